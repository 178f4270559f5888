// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.device.protocol.ModelSession.Model;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Parses the answer to a request for information, in the layout of {@code kiln_app.h}. */
final class ModelList {
    private static final int VERSION = 1;

    private ModelList() {}

    /**
     * The models in the list.
     *
     * @param reply little-endian, starting behind the status
     * @throws BufferUnderflowException if the list is truncated, of another version, or has a negative size
     */
    static List<Model> read(ByteBuffer reply) {
        if (reply.get() != VERSION) {
            throw new BufferUnderflowException();
        }
        int count = reply.get() & 0xFF;
        List<Model> models = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] name = new byte[reply.get() & 0xFF];
            reply.get(name);
            int inputs = reply.get() & 0xFF;
            int outputs = reply.get() & 0xFF;
            models.add(
                    new Model(new String(name, StandardCharsets.UTF_8), sizes(reply, inputs), sizes(reply, outputs)));
        }
        return List.copyOf(models);
    }

    private static List<Integer> sizes(ByteBuffer reply, int count) {
        List<Integer> sizes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int size = reply.getInt();
            if (size < 0) {
                throw new BufferUnderflowException();
            }
            sizes.add(size);
        }
        return sizes;
    }
}
