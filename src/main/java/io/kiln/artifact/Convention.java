// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

/** How programs pass tensors to a model: microTVM's {@code interface-api}. */
public enum Convention {
    /** {@code c}: structs with one typed member for each tensor, in a header of the model's own. */
    TYPED
}
