"""The product catalog of the CRM: currencies, dictionaries, sections, properties, products and prices."""
