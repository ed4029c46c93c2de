"""The heart both faces share: what the dataset holds, who may see it, and how it is searched and read."""
