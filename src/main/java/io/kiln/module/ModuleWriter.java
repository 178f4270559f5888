// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.PromisedForms;
import io.kiln.base.Bytes;
import io.kiln.spi.BlobWriter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;

/** Writes the primitives of dmlc::Stream, little-endian. */
public final class ModuleWriter implements BlobWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @Override
    public ModuleWriter u64(long value) {
        return number(value, 8);
    }

    @Override
    public ModuleWriter u32(int value) {
        return number(value, 4);
    }

    /** u64 length and the bytes. */
    public ModuleWriter string(Bytes value) {
        return u64(value.size()).raw(value);
    }

    @Override
    public ModuleWriter string(String value) {
        return string(Bytes.ofText(value));
    }

    @Override
    public ModuleWriter strings(Collection<String> values) {
        u64(values.size());
        values.forEach(this::string);
        return this;
    }

    /** u64 count and the numbers of 64 bits. */
    public ModuleWriter numbers(List<Integer> values) {
        u64(values.size());
        values.forEach(this::u64);
        return this;
    }

    public ModuleWriter raw(Bytes value) {
        out.writeBytes(value.toArray());
        return this;
    }

    @Override
    public ModuleWriter bytes(ByteBuffer value) {
        return raw(PromisedForms.bytes(value));
    }

    public Bytes bytes() {
        return Bytes.wrap(out.toByteArray());
    }

    private ModuleWriter number(long value, int bytes) {
        for (int i = 0; i < bytes; i++) {
            out.write((int) (value >>> (8 * i)));
        }
        return this;
    }
}
