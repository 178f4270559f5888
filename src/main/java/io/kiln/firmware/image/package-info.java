// SPDX-License-Identifier: Apache-2.0
/** The image: its ELF file, its formats, its memory table and what it measures. */
package io.kiln.firmware.image;
