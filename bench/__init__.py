"""The benchmark: remit beside its peers, one machine, one run, one table of ratios.

`python -m bench` runs everything; `bench/catalog.py` lists what is measured.
"""
