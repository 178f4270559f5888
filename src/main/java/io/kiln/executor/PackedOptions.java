// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

/**
 * Options of functions with the packed signature.
 *
 * @param systemLibrary whether they are listed in a system library, where programs find them by their names
 * @param checked whether they check their arguments
 */
public record PackedOptions(boolean systemLibrary, boolean checked) {
    /** The usual options: functions are listed in a system library and check their arguments. */
    public static final PackedOptions USUAL = new PackedOptions(true, true);
}
