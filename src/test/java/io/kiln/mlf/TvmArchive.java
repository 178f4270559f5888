// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/**
 * Archives laid out, named and printed as TVM does, of small models: {@code v5} an int8 dense layer that asks for workspaces while it runs, {@code v6}
 * a float layer and softmax with planned memory, {@code v7} two models, one of them with workspace I/O; {@code v1} to {@code v4} have the C of
 * {@code v5} where those versions had it; {@code dsp} has two models, {@code left} and {@code right}, of one kernel for a Cortex-M4. The files lie in the test resources; here they can be changed before they are packed.
 */
public final class TvmArchive {
    private static final Path RESOURCES = Path.of("src", "test", "resources", "io", "kiln", "mlf", "tvm");

    private static final Set<String> OLDER = Set.of("v1", "v2", "v3", "v4");

    private final TreeMap<String, Bytes> files = new TreeMap<>();

    private TvmArchive() {}

    /** The files of an archive, with the parts that all have: parameters, and a runtime and templates that stand for TVM's. */
    public static TvmArchive of(String name) {
        TvmArchive archive = new TvmArchive();
        if (OLDER.contains(name)) {
            archive.add(RESOURCES.resolve("v5"));
            if (!name.equals("v4")) {
                archive.move("src/relay.txt", "relay.txt");
            }
            if (!name.equals("v4") && !name.equals("v3")) {
                archive.move("codegen/host/src/default_lib0.c", "codegen/host/src/lib0.c");
                archive.move("codegen/host/src/default_lib1.c", "codegen/host/src/lib1.c");
            }
        }
        archive.add(RESOURCES.resolve(name));
        if (name.equals("dsp")) {
            new TreeMap<>(archive.files)
                    .forEach((path, content) -> archive.files.putIfAbsent(
                            path.replace("left", "right"),
                            Bytes.ofText(content.text().replace("left", "right").replace("LEFT", "RIGHT"))));
        }
        return archive.with("parameters/default.params", "")
                .with("runtime/CMakeLists.txt", "project(crt)\n")
                .with("runtime/include/tvm/runtime/c_runtime_api.h", "#error TVM's own\n")
                .with("runtime/src/runtime/crt/common/crt_backend_api.c", "#error TVM's own\n")
                .with("templates/crt_config.h.template", "#error TVM's own\n");
    }

    /** The files of an archive. */
    public static TvmArchive read(Path file) {
        TvmArchive archive = new TvmArchive();
        archive.files.putAll(ModelLibraryFormat.files(file));
        return archive;
    }

    /** A file's text. */
    public String text(String path) {
        return files.get(path).text();
    }

    /** The same model under another name: functions keep its capitals, headers do not. */
    public TvmArchive named(String name) {
        TreeMap<String, Bytes> old = new TreeMap<>(files);
        files.clear();
        old.forEach((path, content) -> files.put(
                path.replace("default", name),
                path.endsWith(".params")
                        ? content
                        : Bytes.ofText(content.text()
                                .replace("tvmgen_default", "tvmgen_" + name)
                                .replace("\"default\"", "\"" + name + "\""))));
        return this;
    }

    /** Adds the files and the models of another archive. */
    public TvmArchive and(TvmArchive other) {
        String modules = "\"modules\": {";
        String more = other.text("metadata.json");
        String theirs = more.substring(more.indexOf(modules) + modules.length(), more.lastIndexOf("},"));
        other.files.forEach(files::putIfAbsent);
        return replacing("metadata.json", modules, modules + theirs + ",");
    }

    private void add(Path root) {
        try (Stream<Path> walk = Files.walk(root)) {
            for (Path file : walk.filter(Files::isRegularFile).toList()) {
                files.put(root.relativize(file).toString().replace('\\', '/'), Bytes.wrap(Files.readAllBytes(file)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void move(String from, String to) {
        files.put(to, files.remove(from));
    }

    /** Adds or replaces a file. */
    public TvmArchive with(String path, String text) {
        return with(path, Bytes.ofText(text));
    }

    /** Adds or replaces a file of bytes. */
    public TvmArchive with(String path, Bytes content) {
        files.put(path, content);
        return this;
    }

    /** Leaves a file out, or a folder if the path ends in a slash. */
    public TvmArchive without(String path) {
        files.keySet().removeIf(file -> file.equals(path) || (path.endsWith("/") && file.startsWith(path)));
        return this;
    }

    /** Changes a part of a file. */
    public TvmArchive replacing(String path, String old, String by) {
        String text = files.get(path).text();
        if (!text.contains(old)) {
            throw new IllegalArgumentException(path + " has no " + old);
        }
        return with(path, text.replace(old, by));
    }

    /** Packs the files as Python's {@code tarfile} does of a folder named {@code .}: folders have members of their own. */
    public Path save(Path file) {
        TreeMap<String, Bytes> members = new TreeMap<>();
        members.put("./", Bytes.ofText(""));
        files.forEach((path, content) -> {
            for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
                members.put("./" + path.substring(0, slash + 1), Bytes.ofText(""));
            }
            members.put("./" + path, content);
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name())) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            for (Map.Entry<String, Bytes> member : members.entrySet()) {
                TarArchiveEntry entry = new TarArchiveEntry(member.getKey());
                entry.setNames("root", "root");
                entry.setSize(member.getValue().size());
                tar.putArchiveEntry(entry);
                tar.write(member.getValue().toArray());
                tar.closeArchiveEntry();
            }
            tar.finish();
            return Files.write(file, out.toByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Test vectors whose outputs were computed by hand from the model's definition, not with its C. */
    public static void vectors(String name, Path folder) {
        switch (name) {
            case "v1", "v2", "v3", "v4", "v5" -> vectorsOfIntegers(folder);
            case "v6" -> {
                vector(
                        folder,
                        0,
                        float32(0.3125, 0.5, -0.4375, -0.375),
                        float32(0.49166025723683193, 0.10705833591802112, 0.40128140684514696));
                vector(
                        folder,
                        1,
                        float32(-0.5625, -0.4375, 1.0625, 0.375),
                        float32(0.1660121091503859, 0.4025434011079502, 0.43144448974166383));
            }
            case "dsp" -> {
                for (String model : List.of("left", "right")) {
                    vector(folder.resolve(model), 0, int8(10, -20, 30, -40, 50, -60, 70, -80), int32(2040, -4590));
                    vector(
                            folder.resolve(model),
                            1,
                            int8(-128, 127, -128, 127, -128, 127, -128, 127),
                            int32(-4588, -18919));
                }
            }
            default -> {
                vector(
                        folder.resolve("alpha"),
                        0,
                        joined(int8(11, 184, 212, 84, 74, 135), int32(-867, -321, -383, 674, 235, 200)),
                        int32(-100861, -29540, 55084, -19641, -94673, -44557));
                vector(
                        folder.resolve("beta"),
                        0,
                        int16(-9890, 9529, 1072, -7837, 156),
                        joined(int16(-29670, 28587, 3216, -23511, 468), int16(0, 9529, 1072, 0, 156)));
            }
        }
    }

    private static void vectorsOfIntegers(Path folder) {
        vector(
                folder,
                0,
                int8(2, 55, -114, 110, -1, -102, -48, -71, 62, 112, -2, 66, -76, -1, -122, -18),
                int8(48, 15, -7, 9, 32, 15, -44, 74));
        vector(
                folder,
                1,
                int8(80, 15, -35, 71, -47, -92, -57, 99, -64, -61, -128, -126, -21, -18, -44, -43),
                int8(-9, -49, 61, -17, -108, 78, -4, 38));
    }

    private static void vector(Path folder, int index, byte[] input, byte[] output) {
        try {
            Files.createDirectories(folder);
            Files.write(folder.resolve("input_" + index + ".bin"), input);
            Files.write(folder.resolve("output_" + index + ".bin"), output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] int8(int... values) {
        byte[] bytes = new byte[values.length];
        ByteBuffer buffer = littleEndian(bytes);
        for (int value : values) {
            buffer.put((byte) value);
        }
        return bytes;
    }

    private static byte[] int16(int... values) {
        byte[] bytes = new byte[values.length * Short.BYTES];
        ByteBuffer buffer = littleEndian(bytes);
        for (int value : values) {
            buffer.putShort((short) value);
        }
        return bytes;
    }

    private static byte[] int32(int... values) {
        byte[] bytes = new byte[values.length * Integer.BYTES];
        ByteBuffer buffer = littleEndian(bytes);
        for (int value : values) {
            buffer.putInt(value);
        }
        return bytes;
    }

    private static byte[] float32(double... values) {
        byte[] bytes = new byte[values.length * Float.BYTES];
        ByteBuffer buffer = littleEndian(bytes);
        for (double value : values) {
            buffer.putFloat((float) value);
        }
        return bytes;
    }

    private static ByteBuffer littleEndian(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List.of(parts).forEach(out::writeBytes);
        return out.toByteArray();
    }
}
