"""The differential test: reference verifiers that share no code with the product, and the cases that both verify."""
