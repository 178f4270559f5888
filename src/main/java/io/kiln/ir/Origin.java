// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

/**
 * The origin of a binding.
 *
 * @param file name of the model file, without its folder
 * @param operatorIndex index of the operator in the file
 * @param operator the operator's name in the file's own terms, such as {@code CONV_2D}
 * @param tensor name of the tensor that this operator writes
 */
public record Origin(String file, int operatorIndex, String operator, String tensor) {
    /** The layer alone, as in reports. */
    public String layer() {
        return "#" + operatorIndex + " " + operator + " `" + tensor + "`";
    }

    /** The text in error messages. */
    public String text() {
        return file + ": operator #" + operatorIndex + " " + operator + " `" + tensor + "`";
    }
}
