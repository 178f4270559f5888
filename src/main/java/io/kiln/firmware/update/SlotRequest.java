// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

/**
 * How models are to be replaced in the field: key, versions and slots.
 *
 * @param key signs them
 * @param models their version
 * @param firmware version of the firmware beside them
 * @param minimumFirmware the oldest firmware that the models work with
 */
public record SlotRequest(UpdateKey key, UpdateVersion models, UpdateVersion firmware, UpdateVersion minimumFirmware) {}
