// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** What a program of {@code src/test/c} has the model do: {@code ethosu_job.h} reads it. */
final class NpuJob {
    private final int config;
    private final List<Region> regions = new ArrayList<>();
    private final List<byte[]> payloads = new ArrayList<>();
    private final List<Place> takes = new ArrayList<>();
    private final List<List<Place>> cases = new ArrayList<>();

    /** Memory: its size, and the bytes that it begins with. */
    private record Region(int bytes, Bytes content) {}

    /** Bytes in a region. */
    record Place(int region, int offset, int bytes, Bytes content) {
        Place(int region, int offset, Bytes content) {
            this(region, offset, content.size(), content);
        }
    }

    NpuJob(int config) {
        this.config = config;
    }

    /** The next region. */
    NpuJob region(int bytes, Bytes content) {
        regions.add(new Region(bytes, content));
        return this;
    }

    /** A payload to run after those before. */
    NpuJob payload(byte[] content) {
        payloads.add(content);
        return this;
    }

    /** Bytes to take out after each case. */
    NpuJob take(int region, int offset, int bytes) {
        takes.add(new Place(region, offset, bytes, Bytes.ofText("")));
        return this;
    }

    /** A case: what is put in before. All cases put in as much. */
    NpuJob run(List<Place> puts) {
        cases.add(puts);
        return this;
    }

    byte[] bytes() {
        Numbers out = new Numbers();
        out.number(config).number(regions.size());
        regions.forEach(each -> out.number(each.bytes())
                .number(each.content().size())
                .bytes(each.content().toArray()));
        out.number(payloads.size());
        payloads.forEach(each -> out.number(each.length).bytes(each));
        out.number(takes.size());
        takes.forEach(each -> out.number(each.region()).number(each.offset()).number(each.bytes()));
        out.number(cases.size()).number(cases.get(0).size());
        cases.stream()
                .flatMap(List::stream)
                .forEach(each -> out.number(each.region())
                        .number(each.offset())
                        .number(each.bytes())
                        .bytes(each.content().toArray()));
        return out.toByteArray();
    }

    /** Bytes and numbers of 32 bits, little-endian. */
    static final class Numbers {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Numbers number(int number) {
            return bytes(ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(number)
                    .array());
        }

        Numbers bytes(byte[] bytes) {
            out.writeBytes(bytes);
            return this;
        }

        int size() {
            return out.size();
        }

        byte[] toByteArray() {
            return out.toByteArray();
        }
    }
}
