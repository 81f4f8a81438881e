"""The peers: each module runs one other system at its best honest settings, power-safe."""
