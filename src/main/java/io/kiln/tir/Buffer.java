// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;

/**
 * A one-dimensional array that a function reads or writes.
 *
 * @param name C name, unique in its function
 * @param dtype element type
 * @param elements number of elements; 0 if a view's extent is unknown
 * @param scope kind of memory
 */
public record Buffer(String name, DType dtype, long elements, Scope scope) {
    /** The kind of a buffer's memory, and whether it may be written. */
    public enum Scope {
        /** Parameter, read only. */
        INPUT,
        /** Parameter that the function writes. */
        OUTPUT,
        /** Parameter: scratch memory in the workspace. */
        SCRATCH,
        /** {@code static} array of the file, which keeps its value between calls. */
        STATE,
        /** {@code static const} table of the file. */
        CONSTANT,
        /** Pointer into a buffer that is only read. */
        VIEW,
        /** Pointer into a buffer that is written. */
        MUTABLE_VIEW,
        /** Parameter: the context of a device, which is only handed on. */
        DEVICE
    }

    /** The context of a device as a parameter. */
    public static Buffer device(String name) {
        return new Buffer(name, DType.UINT8, 0, Scope.DEVICE);
    }

    public boolean isWritable() {
        return switch (scope) {
            case OUTPUT, SCRATCH, STATE, MUTABLE_VIEW, DEVICE -> true;
            case INPUT, CONSTANT, VIEW -> false;
        };
    }

    /** Size in bytes. */
    public long bytes() {
        return elements * dtype.bytes();
    }
}
