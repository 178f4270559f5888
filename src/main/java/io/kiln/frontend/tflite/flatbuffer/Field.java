// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.flatbuffer;

/** A field of a FlatBuffers table: its number in the schema, its type, and its default. */
public sealed interface Field {
    /** Number of the field in its table; the schema counts from 0. */
    int number();

    /** An unsigned byte, or the code of an enum; 0 if absent. */
    record UByte(int number) implements Field {}

    /** A truth value; false if absent. */
    record Bool(int number) implements Field {}

    /**
     * An integer of 32 bits.
     *
     * @param otherwise the value if absent
     */
    record Int32(int number, int otherwise) implements Field {
        /** A field that is 0 if absent. */
        public Int32(int number) {
            this(number, 0);
        }
    }

    /** An integer of 64 bits; 0 if absent. */
    record Int64(int number) implements Field {}

    /** A number in single precision; 0 if absent. */
    record Real(int number) implements Field {}

    /** Text; empty if absent. */
    record Text(int number) implements Field {}

    /** A table. */
    record Table(int number) implements Field {}

    /**
     * A vector; empty if absent.
     *
     * @param elementBytes size of an element; 4 for offsets to tables
     */
    record Vector(int number, int elementBytes) implements Field {
        /** A vector of elements, or of offsets to tables, of 4 bytes each. */
        public Vector(int number) {
            this(number, Integer.BYTES);
        }
    }
}
