// SPDX-License-Identifier: Apache-2.0
/** Updates in the field: model regions and their slots, signed update files, and MCUboot's image format. */
package io.kiln.firmware.update;
