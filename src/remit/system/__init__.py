"""What the packages above need from the machine: files, processes, HTTP, background loops."""
