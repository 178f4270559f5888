// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.ResourceTree;
import io.kiln.base.TemporaryFolder;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.Inputs;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Makes objects with the bundled clang, with the flags that C of the same core is compiled with. Headers of the C library are those of Kiln's
 * shims: they declare standard functions only, so that objects link with every C library.
 */
public final class ClangObjects implements ObjectCompiler, Inputs {
    private static final String HEADERS = "include";
    private static final String OBJECT = "object.o";

    /**
     * Links a module of C into another one. What it brings is internal there, as static functions are; whatever LLVM does to C, it
     * does afterwards.
     */
    private static final String LINK = "-mlink-builtin-bitcode";

    private final String target;
    private final Toolchain clang;
    private final List<String> more;
    private final List<String> flags;

    private ClangObjects(String target, Toolchain clang, Optimize optimize, List<String> more) {
        this.target = target;
        this.clang = clang;
        this.more = List.copyOf(more);
        this.flags = flags(target, clang, optimize, more);
    }

    /**
     * The compiler for a target.
     *
     * @param target target string of kind llvm; its triple, if it has one, takes the place of the core's
     * @param more flags beside the core's
     * @throws KilnException if clang is missing, or does not know the target
     */
    public static ClangObjects of(
            String target, Optimize optimize, List<String> more, ToolchainEnvironment environment) {
        Toolchain clang = Toolchains.forObjects(TargetOptions.parse(target), environment);
        ClangObjects compiler = new ClangObjects(target, clang, optimize, more);
        compiler.check();
        return compiler;
    }

    private static List<String> flags(String target, Toolchain clang, Optimize optimize, List<String> more) {
        List<String> flags = new ArrayList<>(clang.compileFlags(SourceKind.OWN, optimize));
        String triple = TargetOptions.parse(target).mtriple();
        if (!triple.isEmpty()) {
            flags.add("--target=" + triple);
        }
        flags.addAll(more);
        // Objects name no folder of this computer.
        flags.addAll(List.of("-g0", "-Wno-unused-command-line-argument", "-nostdlibinc", "-isystem", HEADERS));
        return List.copyOf(flags);
    }

    /** The same compiler with another goal of optimization. */
    public ClangObjects optimizing(Optimize optimize) {
        return new ClangObjects(target, clang, optimize, more);
    }

    /** The inputs of an object: version and flags of clang; where clang lies on this computer does not count. */
    @Override
    public Object inputs() {
        String home = clang.home().map(Path::toString).orElse("");
        return Stream.concat(Stream.of(clang.version()), flags.stream())
                .map(word -> home.isEmpty() ? word : word.replace(home, ""))
                .toList();
    }

    private void check() {
        ProcessResult result = TemporaryFolder.use("kiln-objects", folder -> {
            WholeFiles.write(folder.resolve("empty.ll"), "source_filename = \"empty.ll\"\n");
            return run(folder, module("empty.ll"));
        });
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    "clang does not know the target: " + result.message(),
                    "target `" + target + "`",
                    "a -mtriple of LLVM that fits -mcpu, or none",
                    "Leave -mtriple out, or begin the target with c");
        }
    }

    @Override
    public Bytes compileModule(String name, String module, Optional<String> called) {
        String file = name.replaceFirst("\\.o$", ".ll");
        return TemporaryFolder.use("kiln-objects", folder -> {
            WholeFiles.write(folder.resolve(file), module);
            List<String> line = module(file);
            if (called.isPresent()) {
                shims(folder);
                WholeFiles.write(folder.resolve("called.c"), called.get());
                List<String> bitcode = List.of("-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes");
                demand(name, run(folder, concat(bitcode, List.of("-c", "called.c", "-o", "called.bc"))));
                line = concat(line, List.of("-Xclang", LINK, "-Xclang", "called.bc"));
            }
            return object(name, folder, line);
        });
    }

    @Override
    public Bytes compileC(String name, String source, Map<String, Bytes> headers) {
        String file = name.replaceFirst("\\.o$", ".c");
        return TemporaryFolder.use("kiln-objects", folder -> {
            shims(folder);
            WholeFiles.write(folder.resolve(HEADERS), headers);
            WholeFiles.write(folder.resolve(file), source);
            return object(name, folder, List.of("-iquote", HEADERS, "-c", file, "-o", OBJECT));
        });
    }

    private static List<String> module(String file) {
        return List.of("-Wno-override-module", "-x", "ir", "-c", file, "-o", OBJECT);
    }

    private Bytes object(String name, Path folder, List<String> arguments) {
        demand(name, run(folder, arguments));
        return WholeFiles.read(folder.resolve(OBJECT));
    }

    private ProcessResult run(Path folder, List<String> arguments) {
        return ProcessRunner.run(
                Command.of(clang.compiler(), concat(flags, arguments)).in(folder));
    }

    private void demand(String name, ProcessResult result) {
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    "clang makes no object: " + result.message(), name + " for target `" + target + "`");
        }
    }

    private static void shims(Path folder) {
        WholeFiles.write(folder.resolve(HEADERS), ResourceTree.read("shims/include"));
    }

    private static List<String> concat(List<String> first, List<String> second) {
        List<String> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }
}
