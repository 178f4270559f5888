// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** What an argument is for its operator. */
public enum Role {
    /** A tensor, computed or constant. */
    DATA,

    /** Known at build time. */
    CONSTANT,

    /** A variable of the function, which the operator reads and changes. */
    STATE
}
