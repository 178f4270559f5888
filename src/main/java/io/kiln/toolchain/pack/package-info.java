// SPDX-License-Identifier: Apache-2.0
/** CMSIS-Packs: what vendors say of their devices, and the board profiles that Kiln makes of it. */
package io.kiln.toolchain.pack;
