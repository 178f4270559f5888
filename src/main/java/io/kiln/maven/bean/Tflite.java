// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

/** {@code <tflite>}: how models of TensorFlow Lite are read. Unset elements default to {@code kiln.tflite.*}. */
public final class Tflite {
    /** Whose arithmetic operators have: micro or lite. */
    private String rounding;

    /** Set by Maven from {@code <rounding>}. */
    public void setRounding(String rounding) {
        this.rounding = rounding;
    }

    public String rounding() {
        return rounding;
    }
}
