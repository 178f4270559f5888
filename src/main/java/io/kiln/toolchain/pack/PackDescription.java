// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import java.util.List;
import java.util.Optional;

/**
 * What a pack's description ({@code .pdsc}) says, before anything is inherited.
 *
 * @param vendor who publishes the pack
 * @param name of the pack
 * @param version of its newest release; empty if it has none
 * @param devices in the order of the file
 */
record PackDescription(String vendor, String name, Optional<String> version, List<Entry> devices) {
    /** Vendor, name and version, as packs are called. */
    String id() {
        return vendor + "." + name + version.map(each -> "." + each).orElse("");
    }

    /**
     * A device that can be chosen: one without variants, or a variant.
     *
     * @param name of the device or variant
     * @param device name of the device
     * @param vendor of the family, {@code Name:number}
     * @param levels what is said of it, from the innermost level outwards
     */
    record Entry(String name, String device, String vendor, List<List<Property>> levels) {}
}
