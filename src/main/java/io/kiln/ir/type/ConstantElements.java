// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.type;

/** The elements of a constant tensor, row-major. */
public interface ConstantElements {
    TensorType type();

    int elements();

    /** Element of an integer or bool tensor; for uint64 its 64 bits, negative from 2^63 on. */
    long integer(int index);

    /** Element of a float tensor. */
    float real(int index);
}
