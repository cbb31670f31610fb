"""What takes too long for every run is started here, as far as its first result, so that a form that nobody runs is noticed when it breaks."""
