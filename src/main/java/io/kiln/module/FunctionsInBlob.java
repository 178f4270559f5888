// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.module.DeviceModule.FunctionInfo;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A device's table of functions that stays in the blob and was checked; each function is made when it is asked for. Immutable. */
final class FunctionsInBlob extends AbstractMap<String, FunctionInfo> {
    private static final String KEY = "a function's key";

    /** The lengths of key and name, the numbers of arguments and tags. */
    private static final int LEAST_BYTES = 4 * Long.BYTES;

    private final List<Map.Entry<String, FunctionInfo>> entries;

    /** Positions of the entries in the order of their keys. */
    private final int[] sorted;

    private FunctionsInBlob(List<Map.Entry<String, FunctionInfo>> entries, int[] sorted) {
        this.entries = entries;
        this.sorted = sorted;
    }

    /**
     * Reads u64 count, then keys and functions.
     *
     * @throws io.kiln.base.KilnException with the offset of what is wrong
     */
    static FunctionsInBlob read(ModuleReader in) {
        int count = in.count(LEAST_BYTES, "the number of functions");
        ItemsInBlob<Map.Entry<String, FunctionInfo>> entries = in.items(
                count,
                each -> {
                    each.skipText(KEY);
                    FunctionInfo.check(each);
                },
                each -> Map.entry(each.text(KEY), FunctionInfo.read(each)));
        Integer[] order = new Integer[count];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> in.compareTexts(entries.offset(a), entries.offset(b)));
        int[] sorted = new int[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = order[i];
            if (i > 0 && in.compareTexts(entries.offset(order[i - 1]), entries.offset(order[i])) == 0) {
                String key = entries.get(order[i]).getKey();
                throw in.broken("the function `" + key + "` occurs twice", entries.offset(order[i]));
            }
        }
        return new FunctionsInBlob(entries, sorted);
    }

    @Override
    public Set<Map.Entry<String, FunctionInfo>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public Iterator<Map.Entry<String, FunctionInfo>> iterator() {
                return entries.iterator();
            }

            @Override
            public int size() {
                return entries.size();
            }
        };
    }

    @Override
    public boolean containsKey(Object key) {
        return position(key) >= 0;
    }

    @Override
    public FunctionInfo get(Object key) {
        int position = position(key);
        return position < 0 ? null : entries.get(position).getValue();
    }

    /** The position of a key's entry; negative if there is none. */
    private int position(Object key) {
        if (!(key instanceof String text)) {
            return -1;
        }
        byte[] wanted = utf8(text);
        int low = 0;
        int high = sorted.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = Arrays.compareUnsigned(utf8(entries.get(sorted[middle]).getKey()), wanted);
            if (order == 0) {
                return sorted[middle];
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
