// SPDX-License-Identifier: Apache-2.0
/** The image: its ELF file, output formats and memory table. */
package io.kiln.firmware.image;
