"""Software bills of materials of the images."""
