// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

/**
 * A table of the union {@code BuiltinOptions}.
 *
 * @param code its number in the union; 0 for no table
 */
public record OptionsType(int code) {
    /** No options. */
    public static final OptionsType NONE = new OptionsType(0);
}
