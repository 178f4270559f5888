// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import io.kiln.base.Bytes;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** An argument or a result, one record for each type code that goes over the wire. */
public sealed interface RpcValue {
    default TypeCode type() {
        return TypeCode.of(getClass());
    }

    record Int(long value) implements RpcValue {}

    /** A truth value: TVM 0.18 has a type of its own for it, 0.16 an integer of 0 or 1. */
    record Bool(boolean value) implements RpcValue {}

    record UInt(long value) implements RpcValue {}

    record Real(double value) implements RpcValue {}

    /** An address, or whatever else the board gives out. */
    record Handle(long value) implements RpcValue {}

    record Null() implements RpcValue {}

    /** The type of an element. */
    record Type(DataType value) implements RpcValue {}

    /**
     * A device.
     *
     * @param kind DLPack's number, 1 for the CPU
     * @param id its number among those of its kind
     */
    record Device(int kind, int id) implements RpcValue {
        /** The board's processor. */
        public static final Device CPU = new Device(1, 0);
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
    }

    /**
     * An object of the C++ runtime.
     *
     * @param index type index; 9 for a reference to an object of the other side
     * @param handle the object
     */
    record ObjectRef(int index, long handle) implements RpcValue {}

    /** A module of the board's. */
    record Module(long handle) implements RpcValue {}

    /** A function of the board's. */
    record Function(long handle) implements RpcValue {}

    /** A text, UTF-8 on the wire. */
    record Str(String text) implements RpcValue {}

    record Data(Bytes content) implements RpcValue {}

    /** Type codes of TVM's packed calling convention. */
    enum TypeCode {
        INT(0, Int.class),
        UINT(1, UInt.class),
        FLOAT(2, Real.class),
        HANDLE(3, Handle.class),
        NULL(4, Null.class),
        DATA_TYPE(5, Type.class),
        DEVICE(6, Device.class),
        TENSOR(7, Tensor.class),
        OBJECT(8, ObjectRef.class),
        MODULE(9, Module.class),
        FUNCTION(10, Function.class),
        STR(11, Str.class),
        BYTES(12, Data.class),
        /** Goes over the wire as a tensor. */
        ND_ARRAY(13, Tensor.class),
        BOOL(15, Bool.class);

        private final int code;
        private final Class<? extends RpcValue> form;

        TypeCode(int code, Class<? extends RpcValue> form) {
            this.code = code;
            this.form = form;
        }

        private static TypeCode of(Class<? extends RpcValue> form) {
            return Arrays.stream(values())
                    .filter(each -> each.form.equals(form))
                    .findFirst()
                    .orElseThrow();
        }

        public int code() {
            return code;
        }

        /** The type of a number. */
        public static Optional<TypeCode> of(long code) {
            return Arrays.stream(values()).filter(each -> each.code == code).findFirst();
        }
    }
}
