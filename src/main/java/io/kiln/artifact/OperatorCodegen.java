// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

/**
 * What generated an operator's code.
 *
 * @param name the code generator, such as {@code c}
 * @param composite what it took the operator as, such as {@code cmsis-nn.qnn_conv2d}; empty for Kiln's own
 * @param stayed why no other code generator took it; empty if there is none, or if one did
 */
public record OperatorCodegen(String name, String composite, String stayed) {
    /** Kiln's own C, which no other code generator was asked to replace. */
    public static final OperatorCodegen OWN = new OperatorCodegen("c", "", "");
}
