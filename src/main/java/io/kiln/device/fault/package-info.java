// SPDX-License-Identifier: Apache-2.0
/** What an image says of a fault that ended it, and what the image's own ELF file adds to that. */
package io.kiln.device.fault;
