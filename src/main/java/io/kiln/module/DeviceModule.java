// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.module.ModuleReader.ItemsInBlob;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Code for a device with a table of its functions: {@code cuda}, {@code opencl}, {@code rocm}, {@code metal}, {@code vulkan} and others. It can be
 * kept and shown where there is no such device.
 *
 * @param format format of the code, such as {@code ptx}, {@code cubin} or {@code cl}
 * @param table the functions by name, in the order of the blob
 * @param data the code
 */
public record DeviceModule(String format, Map<String, FunctionInfo> table, Bytes data) implements ModulePayload {
    public DeviceModule {
        table = table instanceof FunctionsInBlob ? table : Collections.unmodifiableMap(new LinkedHashMap<>(table));
    }

    /**
     * How a function is launched.
     *
     * @param argumentTypes DLDataType of each argument: u8 code, u8 bits, u16 lanes
     * @param launchTags what the launch parameters are, such as {@code blockIdx.x}
     */
    public record FunctionInfo(String name, List<Integer> argumentTypes, List<String> launchTags) {
        /** The most arguments of a function that are read: more than any device takes. */
        private static final int MOST_ARGUMENTS = 4096;

        private static final String TAGS = "launch parameters";

        public FunctionInfo {
            argumentTypes = List.copyOf(argumentTypes);
            launchTags = List.copyOf(launchTags);
        }

        /** The function as text, such as {@code add(handle, int32) <<blockIdx.x, threadIdx.x>>}. */
        public String signature() {
            return name
                    + argumentTypes.stream().map(SerializedArray::text).collect(Collectors.joining(", ", "(", ")"))
                    + (launchTags.isEmpty() ? "" : " <<" + String.join(", ", launchTags) + ">>");
        }

        void write(ModuleWriter out) {
            out.string(name).u64(argumentTypes.size());
            argumentTypes.forEach(out::u32);
            out.strings(launchTags);
        }

        /** Checks a function and passes over it. */
        static void check(ModuleReader in) {
            in.skipText("a function's name");
            int at = in.position();
            int count = in.count(4, "the number of arguments");
            if (count > MOST_ARGUMENTS) {
                throw in.broken("a function has " + count + " arguments, more than " + MOST_ARGUMENTS, at);
            }
            in.skip(4L * count, "the arguments' types");
            in.skipTexts(TAGS);
        }

        static FunctionInfo read(ModuleReader in) {
            String name = in.text("a function's name");
            int count = in.count(4, "the number of arguments");
            List<Integer> types = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                types.add(in.u32("an argument's type"));
            }
            return new FunctionInfo(name, types, in.texts(TAGS));
        }
    }

    static DeviceModule read(ModuleReader in) {
        String format = in.text("the code's format");
        return new DeviceModule(format, readTable(in), in.string("the code"));
    }

    /**
     * Reads a function table as a blob has it: u64 count, then names and functions.
     *
     * @throws io.kiln.base.KilnException with the offset of what is wrong
     */
    public static Map<String, FunctionInfo> readTable(ModuleReader in) {
        return FunctionsInBlob.read(in);
    }

    void writeTable(ModuleWriter out) {
        out.u64(table.size());
        table.forEach((key, info) -> {
            out.string(key);
            info.write(out);
        });
    }

    @Override
    public void write(ModuleWriter out) {
        out.string(format);
        writeTable(out);
        out.string(data);
    }

    @Override
    public List<String> functions() {
        return List.copyOf(table.keySet());
    }

    @Override
    public List<String> details() {
        return table.values().stream().map(FunctionInfo::signature).toList();
    }

    @Override
    public Map<String, Bytes> files() {
        return Map.of("code." + BuiltInModules.suffix(format), data);
    }

    /** A device's table of functions that stays in the blob and was checked; each function is made when it is asked for. Immutable. */
    private static final class FunctionsInBlob extends AbstractMap<String, FunctionInfo> {
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
                int order =
                        Arrays.compareUnsigned(utf8(entries.get(sorted[middle]).getKey()), wanted);
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
}
