// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import com.google.flatbuffers.ArrayReadWriteBuf;
import com.google.flatbuffers.FlexBuffersBuilder;
import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;

/** Options of a custom operator for test models. */
public final class FlexOptions {
    private FlexOptions() {}

    /** A FlexBuffer with a map of Integer, Long, Float, Double, Boolean and String. */
    public static Bytes of(Map<String, Object> options) {
        FlexBuffersBuilder builder = new FlexBuffersBuilder(
                new ArrayReadWriteBuf(64), FlexBuffersBuilder.BUILDER_FLAG_SHARE_KEYS_AND_STRINGS);
        int start = builder.startMap();
        // The order of Map.of differs from run to run; a file's bytes do not.
        new TreeMap<>(options).forEach((name, value) -> {
            if (value instanceof Boolean truth) {
                builder.putBoolean(name, truth);
            } else if (value instanceof Float real) {
                builder.putFloat(name, real);
            } else if (value instanceof Double real) {
                builder.putFloat(name, real);
            } else if (value instanceof Number whole) {
                builder.putInt(name, whole.longValue());
            } else {
                builder.putString(name, value.toString());
            }
        });
        builder.endMap(null, start);
        ByteBuffer buffer = builder.finish();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return Bytes.wrap(bytes);
    }
}
