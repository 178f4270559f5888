// SPDX-License-Identifier: Apache-2.0
/** Runs images in QEMU, or on this computer, and counts the instructions that they execute. */
package io.kiln.device.emulator;
