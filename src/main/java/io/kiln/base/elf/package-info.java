// SPDX-License-Identifier: Apache-2.0
/** ELF files: images, objects and shared libraries. */
package io.kiln.base.elf;
