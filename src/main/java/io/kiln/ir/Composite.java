// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

/**
 * Marks a group as a function of another code generator, in Relay's terms.
 *
 * @param compiler name of the code generator ({@code Compiler}), such as {@code cmsis-nn}
 * @param name name of the composite ({@code Composite}), such as {@code cmsis-nn.qnn_conv2d}
 * @param pattern Relay names of its operators, each followed by {@code _} ({@code PartitionedFromPattern})
 */
public record Composite(String compiler, String name, String pattern) {}
