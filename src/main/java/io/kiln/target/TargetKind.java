// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The kinds of targets, and the attributes of each. Target strings may use all kinds, whether or not there is a code generator. */
public enum TargetKind {
    // Up to TVM 0.8 the executor's options were part of the target, as in archives of that time.
    C(
            "c",
            "mcpu march mattr mabi mfloat-abi mtriple i-cache-size i-cache-line-size workspace-byte-alignment "
                    + "constants-byte-alignment link-params system-lib runtime executor interface-api unpacked-api"),
    LLVM(
            "llvm",
            "mcpu march mattr mabi mfloat-abi mtriple i-cache-size i-cache-line-size num-cores fast-math fast-math-nnan fast-math-ninf fast-math-nsz "
                    + "fast-math-arcp fast-math-contract fast-math-reassoc opt-level cl-opt jit link-params system-lib "
                    + "runtime"),
    CMSIS_NN("cmsis-nn", "mcpu mattr debug_last_error");

    private static final String COMMON = "keys tag device model libs host from_device target_device_type";

    private final String text;
    private final String attributes;

    TargetKind(String text, String attributes) {
        this.text = text;
        this.attributes = attributes + " " + COMMON;
    }

    static Optional<TargetKind> find(String text) {
        return Arrays.stream(values()).filter(k -> k.text.equals(text)).findFirst();
    }

    /** The name in target strings. */
    public String text() {
        return text;
    }

    boolean understands(String attribute) {
        return names().anyMatch(attribute::equals);
    }

    /** Every attribute, for messages. */
    String attributes() {
        return names().sorted().map(a -> "-" + a).collect(Collectors.joining(" "));
    }

    private Stream<String> names() {
        return Arrays.stream(attributes.split(" ", -1));
    }
}
