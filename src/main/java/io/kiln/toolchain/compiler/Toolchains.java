// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor.Bundle;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor.Family;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor.FlagSets;
import io.kiln.toolchain.compiler.Toolchain.CompilerDriver;
import io.kiln.toolchain.compiler.Toolchain.GnuLibrary;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Finds the requested compiler. */
public final class Toolchains {
    private static final String SUFFIX = ".yaml";
    private static final String CLANG = "clang";
    private static final String GNU = "gnu";

    /** A core whose headers of the C++ library serve other 32-bit cores. */
    private static final TargetOptions ANY_ARM = TargetOptions.parse("c -mcpu=cortex-m3");

    /** Flags for C++ that needs no C++ library. */
    private static final List<String> PLAIN_CPLUSPLUS =
            List.of("-std=gnu++17", "-Wall", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics");

    private Toolchains() {}

    /** The built-in descriptors' ids with their titles, sorted. */
    public static SortedMap<String, String> builtIn() {
        TreeMap<String, String> titles = new TreeMap<>();
        ResourceTree.read("toolchains/compilers").forEach((file, content) -> {
            CompilerDescriptor descriptor = readBuiltIn(file, content);
            titles.put(descriptor.id(), descriptor.title());
        });
        return titles;
    }

    /** The default toolchain of a target: {@code host} for this computer, otherwise {@code clang}. */
    public static String defaultFor(TargetOptions target) {
        return target.isHost() ? "host" : CLANG;
    }

    /**
     * Fails if the GNU toolchain has no C library for a core.
     *
     * @throws KilnException with the package that has one
     */
    public static void requireLibrary(TargetOptions target, ToolchainEnvironment environment) {
        GnuLibrary.of(resolve(GNU, target, environment));
    }

    /**
     * Finds a compiler for a core and asks its version.
     *
     * @param name id of a built-in descriptor, or path of a descriptor file that ends in {@code .yaml}
     * @throws KilnException if there is no such descriptor, it is broken, it lacks the core, or its compiler is
     *     missing; the message says how to install it
     */
    public static Toolchain resolve(String name, TargetOptions target, ToolchainEnvironment environment) {
        CompilerDescriptor descriptor = descriptor(name);
        Family family = descriptor.familyOf(target.cpu()).orElseThrow(() -> unknownCpu(descriptor, target));
        List<String> core = new ArrayList<>(family.flags());
        core.addAll(family.cpus().get(target.cpu()));
        return resolve(name, target, environment, family, core);
    }

    /**
     * A toolchain with the C library that the user's code wants. The bundled clang has none; it takes that of the GNU toolchain for the same core.
     *
     * @throws KilnException if the GNU toolchain or its library is missing
     */
    public static Toolchain with(
            Libc libc, Toolchain toolchain, TargetOptions target, ToolchainEnvironment environment) {
        return libc == Libc.NANO && toolchain.shims() && !toolchain.isHost()
                ? toolchain.with(GnuLibrary.of(resolve(GNU, target, environment)))
                : toolchain;
    }

    /**
     * A toolchain for C++ of the user's. The bundled clang has no headers of a C++ library; it takes those of the GNU toolchain for the same core,
     * if they are installed. GNU's for RISC-V may have none, too: then both take those of GNU's for Arm, which are the same but for a few macros
     * of the C library, and those are of another build of it for a 32-bit core.
     */
    public static Toolchain forCplusplus(Toolchain toolchain, TargetOptions target, ToolchainEnvironment environment) {
        if (toolchain.isHost()
                || !(toolchain.id().equals(CLANG) || toolchain.id().equals(GNU))) {
            return toolchain;
        }
        List<Path> own = cplusplus(target, environment);
        if (own.isEmpty()) {
            return toolchain.withCplusplus(cplusplus(ANY_ARM, environment));
        }
        return toolchain.id().equals(CLANG) ? toolchain.withCplusplus(own) : toolchain;
    }

    /** The folders of GNU's C++ headers for a core; empty if they are not installed: C++ without them needs no other compiler. */
    private static List<Path> cplusplus(TargetOptions target, ToolchainEnvironment environment) {
        try {
            return GnuLibrary.cplusplus(resolve(GNU, target, environment));
        } catch (KilnException e) {
            return List.of();
        }
    }

    /**
     * A toolchain that compiles untrusted code. For this computer the bundled clang preprocesses such code; other toolchains stay as they are.
     *
     * @throws KilnException if the bundled clang cannot be fetched
     */
    public static Toolchain forStrangers(Toolchain toolchain, ToolchainEnvironment environment) {
        return toolchain.isHost()
                ? toolchain.preprocessedBy(forObjects(TargetOptions.parse(""), environment))
                : toolchain;
    }

    /**
     * The bundled clang, which makes objects from LLVM IR: for a core of its descriptor, or for this computer, for which it links nothing.
     *
     * @throws KilnException as {@link #resolve(String, TargetOptions, ToolchainEnvironment)}
     */
    static Toolchain forObjects(TargetOptions target, ToolchainEnvironment environment) {
        if (!target.isHost()) {
            return resolve(CLANG, target, environment);
        }
        Family family = descriptor(CLANG).families().values().iterator().next();
        return resolve(CLANG, target, environment, family, List.of());
    }

    private static Toolchain resolve(
            String name, TargetOptions target, ToolchainEnvironment environment, Family family, List<String> core) {
        CompilerDescriptor descriptor = descriptor(name);
        Optional<Path> bundled = descriptor.bundle().map(bundle -> BundledCompiler.install(bundle, environment));
        Optional<Path> home = bundled.or(() -> environment.gnuHomes().stream()
                .filter(folder -> inHome(folder, family.compiler()).isPresent())
                .findFirst());
        Path driver = home.flatMap(folder -> inHome(folder, family.compiler()))
                .or(() -> find(family.compiler()))
                .orElseThrow(() -> missing(descriptor, family, environment));
        List<String> compile = new ArrayList<>(core);
        compile.addAll(descriptor.flags().compile());
        List<String> link = new ArrayList<>(core);
        link.addAll(descriptor.flags().link());
        link.addAll(family.link());
        String version = bundled.map(folder -> BundledCompiler.version(folder, () -> version(descriptor, driver)))
                .orElseGet(() -> version(descriptor, driver));
        String command = home.isPresent() ? driver.toString() : family.compiler();
        return new Toolchain(
                descriptor.id(),
                descriptor.title(),
                new CompilerDriver(command, version, home),
                target.cpu(),
                descriptor.shims(),
                descriptor.flags().with(compile, link),
                isBuiltIn(name) ? environment.objectCache(driver, version) : Optional.empty());
    }

    /** Whether a toolchain has a built-in descriptor. A descriptor of the user's own may have flags that name files. */
    private static boolean isBuiltIn(String name) {
        return ResourceTree.read("toolchains/compilers").containsKey(name + SUFFIX);
    }

    /** The file of a toolchain that is not built in: the descriptor of a user. */
    public static Optional<Path> file(String name) {
        return isBuiltIn(name) ? Optional.empty() : Optional.of(Path.of(name));
    }

    private static CompilerDescriptor descriptor(String name) {
        SortedMap<String, Bytes> builtIn = ResourceTree.read("toolchains/compilers");
        Bytes content = builtIn.get(name + SUFFIX);
        if (content != null) {
            return readBuiltIn("built-in toolchain " + name, content);
        }
        if (!name.endsWith(SUFFIX)) {
            String known = String.join(", ", builtIn().keySet());
            throw Failure.TOOL.exception(
                    "there is no toolchain \"" + name + "\"",
                    "kiln.toolchain",
                    "one of " + known + ", or a descriptor file that ends in " + SUFFIX);
        }
        try {
            return read(name, YamlDocument.content(Path.of(name)));
        } catch (InvalidPathException e) {
            throw new KilnException(
                    Failure.TOOL.problem("the toolchain descriptor cannot be read", name, "a readable file"), e);
        }
    }

    private static Optional<Path> inHome(Path folder, String compiler) {
        return Executables.findIn(folder.resolve("bin"), compiler).or(() -> Executables.findIn(folder, compiler));
    }

    private static Optional<Path> find(String compiler) {
        Path path = Path.of(compiler);
        return path.isAbsolute() ? Optional.of(path).filter(Files::isExecutable) : Executables.find(compiler);
    }

    private static String version(CompilerDescriptor descriptor, Path driver) {
        ProcessResult result =
                ProcessRunner.run(Command.of(driver.toString(), "--version").within(Duration.ofSeconds(60)));
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    "the compiler does not run: " + result.message(),
                    driver.toString(),
                    "a working C compiler for toolchain " + descriptor.id());
        }
        return result.output().lines().findFirst().orElse("unknown").strip();
    }

    private static KilnException unknownCpu(CompilerDescriptor descriptor, TargetOptions target) {
        return Failure.TOOL.exception(
                "toolchain " + descriptor.id() + " does not compile for " + target.cpu(),
                "target",
                "one of " + String.join(", ", descriptor.cpus()),
                target.isHost() ? "For this computer use -Dkiln.toolchain=host" : "");
    }

    private static KilnException missing(
            CompilerDescriptor descriptor, Family family, ToolchainEnvironment environment) {
        String places = environment.gnuHomes().stream()
                        .map(home -> "in " + home + " or ")
                        .collect(Collectors.joining()) + "on the PATH";
        return Failure.TOOL.exception(
                "the compiler " + family.compiler() + " is missing",
                "toolchain " + descriptor.id(),
                "it " + places,
                family.install().isEmpty() ? "" : "Get it with: " + family.install());
    }

    /** Holds the schema, which is loaded only for descriptors that are not built in. */
    private static final class Schema {
        static final YamlSchema OF_COMPILERS = new YamlSchema("compiler.schema.json");
    }

    /**
     * Reads a built-in descriptor. Tests have checked it against the schema, so that builds need not.
     *
     * @param name the file, for messages
     */
    static CompilerDescriptor readBuiltIn(String name, Bytes content) {
        return parsed(YamlDocument.parse(name, content).root());
    }

    /**
     * Reads a descriptor that is not built in.
     *
     * @param name the file, for messages
     * @throws KilnException with all violations of the schema, each with its line
     */
    static CompilerDescriptor read(String name, Bytes content) {
        YamlDocument document = YamlDocument.parse(name, content);
        Problems problems = new Problems(Failure.TOOL);
        Schema.OF_COMPILERS.check(document, problems);
        problems.throwIfAny();
        return parsed(document.root());
    }

    private static CompilerDescriptor parsed(JsonNode root) {
        Map<SourceKind, List<String>> sources = new EnumMap<>(SourceKind.class);
        for (SourceKind kind : SourceKind.values()) {
            sources.put(kind, words(root.path("sources").path(kind.text())));
        }
        if (!root.path("sources").has(SourceKind.FOREIGN.text())) {
            sources.put(SourceKind.FOREIGN, sources.get(SourceKind.USER));
        }
        if (!root.path("sources").has(SourceKind.CPLUSPLUS.text())) {
            sources.put(SourceKind.CPLUSPLUS, PLAIN_CPLUSPLUS);
        }
        Map<Optimize, List<String>> optimize = new EnumMap<>(Optimize.class);
        for (Optimize choice : Optimize.values()) {
            optimize.put(choice, words(root.path("optimize").path(choice.text())));
        }
        Map<String, Family> families = new LinkedHashMap<>();
        root.path("families").properties().forEach(entry -> families.put(entry.getKey(), family(entry.getValue())));
        return new CompilerDescriptor(
                root.path("id").asText(),
                root.path("title").asText(),
                root.path("library").asText().equals("shims"),
                bundle(root.path("bundle")),
                new FlagSets(
                        words(root.path("compile")),
                        sources,
                        optimize,
                        words(root.path("link")),
                        words(root.path("libraries"))),
                families);
    }

    private static Optional<Bundle> bundle(JsonNode node) {
        if (!node.isObject()) {
            return Optional.empty();
        }
        Map<String, String> sha256 = new LinkedHashMap<>();
        node.path("sha256")
                .properties()
                .forEach(entry -> sha256.put(entry.getKey(), entry.getValue().asText()));
        return Optional.of(new Bundle(
                node.path("groupId").asText(),
                node.path("artifactId").asText(),
                node.path("version").asText(),
                node.path("fetchMegabytes").asInt(),
                node.path("diskMegabytes").asInt(),
                sha256));
    }

    private static Family family(JsonNode node) {
        Map<String, List<String>> cpus = new LinkedHashMap<>();
        node.path("cpus").properties().forEach(entry -> cpus.put(entry.getKey(), words(entry.getValue())));
        return new Family(
                node.path("compiler").asText(),
                node.path("install").asText(""),
                words(node.path("flags")),
                words(node.path("link")),
                cpus);
    }

    private static List<String> words(JsonNode array) {
        List<String> words = new ArrayList<>();
        array.forEach(item -> words.add(item.asText()));
        return List.copyOf(words);
    }

    /** The C library of the user's own code. */
    public enum Libc {
        /** What the toolchain has by itself, without a way to the board. */
        NONE,
        /** The small library of the GNU toolchain, newlib-nano or picolibc: its streams are the console, its memory is the board's. */
        NANO;

        /**
         * The library of a name, as in {@code kiln.libc}.
         *
         * @throws KilnException for any other text
         */
        public static Libc of(String text) {
            return Arrays.stream(values())
                    .filter(libc -> libc.text().equals(text.strip()))
                    .findFirst()
                    .orElseThrow(() -> Failure.CONFIG.exception(
                            "there is no C library \"" + text + "\"",
                            "kiln.libc",
                            "one of " + Arrays.stream(values()).map(Libc::text).collect(Collectors.joining(", "))));
        }

        /** Its name in {@code kiln.libc}. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
