// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** The role of an argument. */
public enum Role {
    /** A tensor, computed or constant. */
    DATA,

    /** A tensor known at build time. */
    CONSTANT,

    /** A variable of the function, which the operator reads and changes. */
    STATE
}
