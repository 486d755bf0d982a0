"""The product catalogue of the CRM: currencies, dictionaries, sections, properties, products and prices."""
