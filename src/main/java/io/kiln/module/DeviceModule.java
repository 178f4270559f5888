// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
     * @param name its name
     * @param argumentTypes DLDataType of each argument: u8 code, u8 bits, u16 lanes
     * @param launchTags what the launch parameters are, such as {@code blockIdx.x}
     */
    public record FunctionInfo(String name, List<Integer> argumentTypes, List<String> launchTags) {
        /** More than any device takes. */
        private static final int MOST_ARGUMENTS = 4096;

        private static final String TAGS = "launch parameters";

        public FunctionInfo {
            argumentTypes = List.copyOf(argumentTypes);
            launchTags = List.copyOf(launchTags);
        }

        /** Such as {@code add(handle, int32) <<blockIdx.x, threadIdx.x>>}. */
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
        return Map.of("code." + ModuleFiles.suffix(format), data);
    }
}
