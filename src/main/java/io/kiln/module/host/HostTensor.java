// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.host;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.kiln.artifact.DlpackType;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.util.List;

/**
 * A tensor in memory that functions of a library read and write: a {@code DLTensor} (dlpack.h) on the CPU, with its elements row-major and in the
 * byte order of this computer.
 */
public final class HostTensor {
    /** Size of a DLTensor with pointers of 64 bits. */
    private static final int BYTES = 48;

    private static final int DEVICE = 8;
    private static final int RANK = 16;
    private static final int TYPE = 20;
    private static final int SHAPE = 24;

    private static final int ALIGNMENT = 64;
    private static final int CPU = 1;

    private final String name;
    private final DType dtype;
    private final List<Integer> dimensions;
    private final Memory header = new Memory(BYTES);
    private final Memory shape;
    private final Pointer data;
    private final int size;

    /**
     * A tensor of zeros.
     *
     * @param name its name, for messages
     * @param dimensions each at least 0
     */
    public HostTensor(String name, DType dtype, List<Integer> dimensions) {
        long bytes = dtype.bytes();
        for (int dimension : dimensions) {
            bytes = Math.multiplyExact(bytes, dimension);
        }
        this.name = name;
        this.dtype = dtype;
        this.dimensions = List.copyOf(dimensions);
        this.size = Math.toIntExact(bytes);
        this.shape = new Memory(Math.max(1, dimensions.size()) * (long) Long.BYTES);
        for (int i = 0; i < dimensions.size(); i++) {
            shape.setLong((long) i * Long.BYTES, dimensions.get(i));
        }
        Memory memory = new Memory(size + (long) ALIGNMENT).align(ALIGNMENT);
        memory.clear(size + 1L);
        this.data = memory;
        DlpackType type = DlpackType.of(dtype);
        header.clear();
        header.setPointer(0, data);
        header.setInt(DEVICE, CPU);
        header.setInt(RANK, dimensions.size());
        header.setByte(TYPE, (byte) type.code());
        header.setByte(TYPE + 1, (byte) type.bits());
        header.setShort(TYPE + 2, (short) 1);
        header.setPointer(SHAPE, shape);
    }

    public String name() {
        return name;
    }

    public DType dtype() {
        return dtype;
    }

    public List<Integer> dimensions() {
        return dimensions;
    }

    /** Size of its elements in bytes. */
    public int bytes() {
        return size;
    }

    /**
     * Sets all elements.
     *
     * @throws IllegalArgumentException unless they are {@link #bytes} bytes
     */
    public void set(Bytes elements) {
        if (elements.size() != size) {
            throw new IllegalArgumentException("tensor `" + name + "` has " + size + " bytes, not " + elements.size());
        }
        data.write(0, elements.toArray(), 0, size);
    }

    public Bytes get() {
        return Bytes.wrap(data.getByteArray(0, size));
    }

    Pointer header() {
        return header;
    }
}
