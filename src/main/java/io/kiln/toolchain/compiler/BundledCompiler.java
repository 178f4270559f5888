// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor.Bundle;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Unpacks a bundled compiler once for all builds, from an artifact whose digest the descriptor pins. The folder appears
 * complete or not at all: it is filled under another name and renamed, under a lock between threads and processes. The
 * unpacked files are recorded beside the folder, and each build compares the folder with the record.
 */
final class BundledCompiler {
    private static final List<String> PUBLISHED =
            List.of("linux-x86_64", "linux-arm64", "macosx-x86_64", "macosx-arm64");

    /** Loaders of programs for glibc, and the name of musl's. */
    private static final List<String> GLIBC = List.of("lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1");

    private static final String MUSL = "ld-musl-*";
    private static final Pattern ENTRY = Pattern.compile("org/bytedeco/llvm/[^/]+/(.+)");
    private static final Pattern LIBRARY = Pattern.compile("(?:lib)?(LLVM|clang-cpp)[^/]*\\.(so|dylib|dll)[.0-9]*");
    private static final Pattern VERSION = Pattern.compile("([0-9]+\\.[0-9]+)\\..*");

    private final Bundle bundle;
    private final ToolchainEnvironment environment;
    private final String classifier;
    private final Path folder;
    private final Path record;

    private BundledCompiler(Bundle bundle, ToolchainEnvironment environment) {
        this.bundle = bundle;
        this.environment = environment;
        this.classifier = classifier(bundle.artifactId());
        this.folder = environment.home().resolve(bundle.artifactId() + "-" + bundle.version() + "-" + classifier);
        this.record = folder.resolveSibling(folder.getFileName() + ".files");
    }

    /**
     * The folder with {@code bin} and {@code lib}, fetched and unpacked if it is missing or was changed.
     *
     * @throws KilnException if the bundle does not support this computer, cannot be fetched or unpacked, or has another
     *     digest than the pinned one
     */
    static Path install(Bundle bundle, ToolchainEnvironment environment) {
        return new BundledCompiler(bundle, environment).install();
    }

    /**
     * What the compiler in a folder says that its version is. It is asked once, and the answer is kept beside the folder: starting it takes a tenth of
     * a second, and the folder's files are always those of the pinned artifact.
     *
     * @param folder the folder that {@link #install} returned
     * @param asked starts the compiler
     */
    static String version(Path folder, Supplier<String> asked) {
        Path kept = folder.resolveSibling(folder.getFileName() + ".version");
        if (Files.isRegularFile(kept)) {
            return WholeFiles.text(kept);
        }
        String version = asked.get();
        if (Files.isWritable(folder.getParent())) {
            WholeFiles.write(kept, version);
        }
        return version;
    }

    private Path install() {
        try {
            if (looksSound()) {
                return folder;
            }
            try (FolderLock lock =
                    FolderLock.acquire(environment.home(), folder.getFileName().toString())) {
                if (!looksSound() && !isSound()) {
                    unpack(fetch());
                }
                return lock.guarding(folder);
            }
        } catch (IOException | UncheckedIOException e) {
            throw new KilnException(
                    Failure.TOOL.problem(
                            "the compiler cannot be unpacked: " + FileFailure.reason(e),
                            folder.toString(),
                            bundle.diskMegabytes() + " MB of room in a folder that this user may write",
                            "Make room, or name another folder with kiln.home"),
                    e);
        }
    }

    /** Whether names, sizes and times are unchanged; takes a few milliseconds. */
    private boolean looksSound() throws IOException {
        Optional<UnpackedFiles> recorded = Files.isDirectory(folder) ? UnpackedFiles.read(record) : Optional.empty();
        return recorded.isPresent() && recorded.get().looksLike(folder);
    }

    /** Whether a folder with other times, such as a copy, has the same files. */
    private boolean isSound() throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        UnpackedFiles now = UnpackedFiles.of(folder);
        Optional<UnpackedFiles> recorded = UnpackedFiles.read(record);
        Optional<String> difference = recorded.isPresent()
                ? recorded.get().difference(now)
                : Optional.of("the record of its files is missing");
        if (difference.isEmpty()) {
            now.write(record);
            return true;
        }
        environment
                .log()
                .warn("The compiler in " + folder + " was changed (" + difference.get() + ") and is unpacked again");
        return false;
    }

    private Path fetch() throws IOException {
        environment
                .log()
                .info("The compiler " + bundle.artifactId() + " " + bundle.version()
                        + " is needed once for all builds: "
                        + bundle.fetchMegabytes() + " MB to fetch (if the local repository lacks it), "
                        + bundle.diskMegabytes() + " MB on disk in " + folder);
        Path jar =
                environment.fetcher().fetch(bundle.groupId(), bundle.artifactId(), bundle.version(), classifier, "jar");
        String pinned = Optional.ofNullable(bundle.sha256().get(classifier)).orElse("none for " + classifier);
        String actual = UnpackedFiles.digest(jar);
        if (!actual.equals(pinned)) {
            throw Failure.TOOL.exception(
                    "the compiler differs from the pinned one: its SHA-256 is " + actual,
                    jar.toString(),
                    pinned,
                    "Delete the file, and check your mirror's source");
        }
        return jar;
    }

    /** After any failure, nothing half-unpacked remains. */
    private void unpack(Path jar) throws IOException {
        Path part = folder.resolveSibling(folder.getFileName() + ".part");
        WholeFiles.remove(part);
        try {
            unpackLlvm(jar, bundle.version(), part);
            if (!Files.isExecutable(part.resolve("bin").resolve("clang"))) {
                throw Failure.TOOL.exception(
                        "there is no clang in the artifact",
                        jar.toString(),
                        "the artifact as published",
                        "Delete the file");
            }
            UnpackedFiles.of(part).write(record);
            WholeFiles.remove(folder);
            Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            WholeFiles.remove(part);
        }
    }

    /**
     * The classifier, such as {@code linux-x86_64}.
     *
     * @throws KilnException if the artifact's programs do not run here, before anything is fetched
     */
    static String classifier(String artifact) {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String classifier = classifier(system, System.getProperty("os.arch", "").toLowerCase(Locale.ROOT));
        refusal(artifact, classifier, hasMusl(Path.of("/"))).ifPresent(problem -> {
            throw new KilnException(problem);
        });
        return classifier;
    }

    /** Why an artifact's programs do not run on a computer; empty if they should. */
    static Optional<Problem> refusal(String artifact, String classifier, boolean hasMusl) {
        if (classifier.startsWith("windows-")) {
            return Optional.of(refusal(
                    artifact,
                    "Windows without WSL",
                    "Build in WSL 2, which is Linux. The page \"Computers\" says what is known of Windows"));
        }
        if (hasMusl) {
            return Optional.of(refusal(
                    artifact,
                    "a Linux with musl in place of glibc, such as Alpine",
                    "Take an image of Debian or Ubuntu, or -Dkiln.toolchain=gnu with compilers of your system"));
        }
        return PUBLISHED.contains(classifier)
                ? Optional.empty()
                : Optional.of(refusal(artifact, classifier, "Use -Dkiln.toolchain=gnu with compilers of your system"));
    }

    private static Problem refusal(String artifact, String computer, String next) {
        return Failure.TOOL.problem(
                "the compiler " + artifact + " is not for this computer (" + computer + ")",
                "toolchain",
                "one of " + String.join(", ", PUBLISHED),
                next);
    }

    /**
     * Whether musl is the only C library of this computer.
     *
     * @param root the root of its files
     */
    static boolean hasMusl(Path root) {
        Path libraries = root.resolve("lib");
        if (GLIBC.stream().map(root::resolve).anyMatch(Files::exists) || !Files.isDirectory(libraries)) {
            return false;
        }
        try (DirectoryStream<Path> loaders = Files.newDirectoryStream(libraries, MUSL)) {
            return loaders.iterator().hasNext();
        } catch (IOException e) {
            return false;
        }
    }

    static String classifier(String system, String architecture) {
        String name = system.startsWith("mac") ? "macosx" : system.startsWith("windows") ? "windows" : system;
        String machine = switch (architecture) {
            case "amd64", "x86_64", "x64" -> "x86_64";
            case "aarch64", "arm64" -> "arm64";
            default -> architecture;
        };
        return name + "-" + machine;
    }

    /**
     * Unpacks {@code org.bytedeco:llvm} into a new folder. The jar has programs, libraries and {@code lib/clang} side by side in one folder. Only what compiling
     * and linking C needs is unpacked, to where clang looks for it: programs to {@code bin}, libraries and clang's headers to {@code lib}. Names of Linux
     * libraries in the jar lack the version, which is added here because the programs load the libraries by versioned names.
     *
     * @param version version of the artifact, such as {@code 20.1.7-1.5.12}
     */
    private static void unpackLlvm(Path jar, String version, Path folder) throws IOException {
        String suffix = librarySuffix(version);
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            Enumeration<? extends ZipEntry> entries = zip.entries();
            while (entries.hasMoreElements()) {
                ZipEntry entry = entries.nextElement();
                Optional<String> place = entry.isDirectory() ? Optional.empty() : place(entry.getName(), suffix);
                if (place.isPresent()) {
                    copy(zip, entry, inside(folder, place.get(), jar));
                }
            }
        }
        Path linker = folder.resolve("bin").resolve("ld.lld");
        Path lld = folder.resolve("bin").resolve("lld");
        if (Files.exists(lld)) {
            Files.createSymbolicLink(linker, lld.getFileName());
        }
    }

    /** LLVM's libraries are named after its major and minor version: {@code .so.20.1}. */
    private static String librarySuffix(String version) {
        Matcher numbers = VERSION.matcher(version);
        if (!numbers.matches()) {
            throw Failure.TOOL.exception(
                    "the version of LLVM has no major and minor number: " + version,
                    "bundle.version of the compiler's descriptor",
                    "a version such as 20.1.7-1.5.12");
        }
        return ".so." + numbers.group(1);
    }

    /** The path of an unpacked entry; empty if it is not needed. */
    private static Optional<String> place(String entry, String librarySuffix) {
        Matcher inside = ENTRY.matcher(entry);
        if (!inside.matches()) {
            return Optional.empty();
        }
        String file = inside.group(1);
        if (Set.of("clang", "lld").contains(file)) {
            return Optional.of("bin/" + file);
        }
        if (file.startsWith("lib/clang/")) {
            return Optional.of(file);
        }
        Matcher library = LIBRARY.matcher(file);
        if (!library.matches()) {
            return Optional.empty();
        }
        return Optional.of(
                switch (library.group(2)) {
                    case "so" -> "lib/" + file.replaceFirst("\\.so.*", librarySuffix);
                    case "dll" -> "bin/" + file;
                    default -> "lib/" + file;
                });
    }

    private static Path inside(Path folder, String place, Path jar) {
        Path file = folder.resolve(place).normalize();
        if (!file.startsWith(folder)) {
            throw Failure.TOOL.exception(
                    "an entry leads out of the archive: " + place, jar.toString(), "the artifact as published");
        }
        return file;
    }

    private static void copy(ZipFile zip, ZipEntry entry, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        try (InputStream in = zip.getInputStream(entry);
                OutputStream out = file.toString().endsWith(".h")
                        ? Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)
                        : Channels.newOutputStream(WholeFiles.newProgram(file))) {
            in.transferTo(out);
        }
    }

    /**
     * The files and links of an unpacked folder with digests, sizes and times. A file with recorded size and times counts
     * as unchanged; on Unix one of the times is that of the last change of any kind, which programs cannot set. Whoever can
     * also write the record can forge it.
     *
     * @param entries by path relative to the folder, with {@code /} between names
     */
    record UnpackedFiles(SortedMap<String, Entry> entries) {
        private static final int FIELDS = 5;

        /**
         * A file or a link.
         *
         * @param sha256 digest of the content, or of a link's target
         * @param stamp attributes that are cheap to compare
         */
        record Entry(String sha256, Stamp stamp) {}

        /**
         * Size and times.
         *
         * @param size bytes
         * @param modified time of the last write in nanoseconds
         * @param changed time of the last change of content or attributes in nanoseconds; 0 where the system does not
         * provide it
         */
        record Stamp(long size, long modified, long changed) {}

        /** Reads every file of a folder. */
        static UnpackedFiles of(Path folder) throws IOException {
            TreeMap<String, Entry> entries = new TreeMap<>();
            for (Path path : files(folder)) {
                entries.put(name(folder, path), new Entry(digest(path), stamp(path)));
            }
            return new UnpackedFiles(entries);
        }

        /** Reads a record; empty if it is missing or invalid. */
        static Optional<UnpackedFiles> read(Path record) {
            TreeMap<String, Entry> entries = new TreeMap<>();
            try {
                for (String line : Files.readAllLines(record)) {
                    String[] fields = line.split(" ", FIELDS);
                    Stamp stamp =
                            new Stamp(Long.parseLong(fields[1]), Long.parseLong(fields[2]), Long.parseLong(fields[3]));
                    entries.put(fields[4], new Entry(fields[0], stamp));
                }
            } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
                return Optional.empty();
            }
            return Optional.of(new UnpackedFiles(entries));
        }

        /** Writes the record completely or not at all. */
        void write(Path record) {
            StringBuilder text = new StringBuilder();
            entries.forEach((name, entry) -> text.append(entry.sha256())
                    .append(' ')
                    .append(entry.stamp().size())
                    .append(' ')
                    .append(entry.stamp().modified())
                    .append(' ')
                    .append(entry.stamp().changed())
                    .append(' ')
                    .append(name)
                    .append('\n'));
            WholeFiles.write(record, text.toString());
        }

        /** Whether a folder has these files, judged by names, sizes and times. */
        boolean looksLike(Path folder) throws IOException {
            TreeMap<String, Stamp> now = new TreeMap<>();
            for (Path path : files(folder)) {
                now.put(name(folder, path), stamp(path));
            }
            TreeMap<String, Stamp> recorded = new TreeMap<>();
            entries.forEach((name, entry) -> recorded.put(name, entry.stamp()));
            return now.equals(recorded);
        }

        /** The first file that is missing, new or different in the other folder; empty if there is none. */
        Optional<String> difference(UnpackedFiles other) {
            TreeSet<String> names = new TreeSet<>(entries.keySet());
            names.addAll(other.entries.keySet());
            return names.stream()
                    .filter(name -> !digest(name).equals(other.digest(name)))
                    .findFirst();
        }

        private Optional<String> digest(String name) {
            return Optional.ofNullable(entries.get(name)).map(Entry::sha256);
        }

        private static List<Path> files(Path folder) throws IOException {
            try (Stream<Path> walk = Files.walk(folder)) {
                return walk.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                        .toList();
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }

        private static String name(Path folder, Path path) {
            return folder.relativize(path).toString().replace('\\', '/');
        }

        /** SHA-256 of a file's content, or of a link's target. */
        static String digest(Path path) throws IOException {
            if (Files.isSymbolicLink(path)) {
                return Digests.sha256(Files.readSymbolicLink(path).toString());
            }
            MessageDigest digest = Digests.newSha256();
            try (InputStream in = new DigestInputStream(Files.newInputStream(path), digest)) {
                byte[] block = new byte[1 << 16];
                int n = in.read(block);
                while (n >= 0) {
                    n = in.read(block);
                }
            }
            return HexFormat.of().formatHex(digest.digest());
        }

        private static Stamp stamp(Path path) throws IOException {
            BasicFileAttributes attributes =
                    Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return new Stamp(attributes.size(), nanoseconds(attributes.lastModifiedTime()), changed(path));
        }

        private static long changed(Path path) throws IOException {
            if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
                return 0;
            }
            return nanoseconds((FileTime) Files.getAttribute(path, "unix:ctime", LinkOption.NOFOLLOW_LINKS));
        }

        private static long nanoseconds(FileTime time) {
            return time.to(TimeUnit.NANOSECONDS);
        }
    }
}
