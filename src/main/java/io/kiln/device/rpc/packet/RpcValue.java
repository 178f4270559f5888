// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import io.kiln.base.Bytes;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** An argument or a result, one record for each type code that goes over the wire. */
public sealed interface RpcValue {
    /** The type code. */
    TypeCode type();

    /** A signed integer. */
    record Int(long value) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.INT;
        }
    }

    /** A truth value: TVM 0.18 has a type of its own for it, 0.16 an integer of 0 or 1. */
    record Bool(boolean value) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.BOOL;
        }
    }

    /** An unsigned integer. */
    record UInt(long value) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.UINT;
        }
    }

    /** A floating-point number. */
    record Real(double value) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.FLOAT;
        }
    }

    /** An address, or whatever else the board gives out. */
    record Handle(long value) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.HANDLE;
        }
    }

    /** The null value. */
    record Null() implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.NULL;
        }
    }

    /** The type of an element. */
    record Type(DataType value) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.DATA_TYPE;
        }
    }

    /**
     * A device.
     *
     * @param kind DLPack's number, 1 for the CPU
     * @param id its number among those of its kind
     */
    record Device(int kind, int id) implements RpcValue {
        /** The board's processor. */
        public static final Device CPU = new Device(1, 0);

        @Override
        public TypeCode type() {
            return TypeCode.DEVICE;
        }
    }

    /**
     * A tensor in the board's memory, without strides.
     *
     * @param data address of the first byte, before the offset
     * @param device where it lies
     * @param element type of its elements
     * @param shape extents, empty for a scalar
     * @param byteOffset added to the address
     */
    record Tensor(long data, Device device, DataType element, List<Long> shape, long byteOffset) implements RpcValue {
        public Tensor {
            shape = List.copyOf(shape);
        }

        /** The same tensor, from another byte on. */
        public Tensor at(long offset) {
            return new Tensor(data, device, element, shape, offset);
        }

        /**
         * Bytes of all elements.
         *
         * @throws ArithmeticException if that is more than a long holds
         */
        public long bytes() {
            long bytes = element.bytes();
            for (long extent : shape) {
                bytes = Math.multiplyExact(bytes, extent);
            }
            return bytes;
        }

        @Override
        public TypeCode type() {
            return TypeCode.TENSOR;
        }
    }

    /**
     * An object of the C++ runtime.
     *
     * @param index type index; 9 for a reference to an object of the other side
     * @param handle the object
     */
    record ObjectRef(int index, long handle) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.OBJECT;
        }
    }

    /** A module of the board's. */
    record Module(long handle) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.MODULE;
        }
    }

    /** A function of the board's. */
    record Function(long handle) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.FUNCTION;
        }
    }

    /** A text, UTF-8 on the wire. */
    record Str(String text) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.STR;
        }
    }

    /** A run of bytes. */
    record Data(Bytes content) implements RpcValue {
        @Override
        public TypeCode type() {
            return TypeCode.BYTES;
        }
    }

    /** Type codes of TVM's packed calling convention. */
    enum TypeCode {
        INT(0),
        UINT(1),
        FLOAT(2),
        HANDLE(3),
        NULL(4),
        DATA_TYPE(5),
        DEVICE(6),
        TENSOR(7),
        OBJECT(8),
        MODULE(9),
        FUNCTION(10),
        STR(11),
        BYTES(12),
        ND_ARRAY(13),
        BOOL(15);

        private final int code;

        TypeCode(int code) {
            this.code = code;
        }

        /** The number on the wire. */
        public int code() {
            return code;
        }

        /** The type of a number. */
        public static Optional<TypeCode> of(long code) {
            return Arrays.stream(values()).filter(each -> each.code == code).findFirst();
        }
    }
}
