# SPDX-License-Identifier: Apache-2.0
"""Relay text: what the real TVM makes of Kiln's, and what it prints."""
QUESTIONS = {}
