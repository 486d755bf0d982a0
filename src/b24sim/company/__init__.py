"""The people, groups, chats and files of a company that never existed, grown from a seed."""
