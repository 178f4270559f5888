// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint.NoInput;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How the firmware of a board is built.
 *
 * @param toolchain the toolchain to use; empty for any
 * @param compile flags of every compilation, after the toolchain's own; {@code -I} names folders of the board's
 * @param link flags of every link, after the toolchain's own
 * @param codegens the parts of the board's target that name other code generators, such as {@code my-npu -lanes=8}, before the core's own
 * @param uf2Family the chip's family in UF2 files; empty if its boot loader takes none
 */
public record Building(
        Optional<NamedToolchain> toolchain,
        List<String> compile,
        List<String> link,
        List<String> codegens,
        OptionalLong uf2Family) {
    /** No toolchain and no flags. */
    public static final Building PLAIN =
            new Building(Optional.empty(), List.of(), List.of(), List.of(), OptionalLong.empty());

    public Building {
        compile = List.copyOf(compile);
        link = List.copyOf(link);
        codegens = List.copyOf(codegens);
    }

    /** The same settings with further linker flags. */
    Building linkedWith(List<String> more) {
        return new Building(toolchain, compile, joined(link, more), codegens, uf2Family);
    }

    /**
     * The same settings with further compiler flags.
     *
     * @param board id of the board, for messages
     * @throws KilnException naming each flag that no profile may have either
     */
    Building compiledWith(List<String> more, String board) {
        Problems problems = new Problems(Failure.BOARD);
        for (String flag : more) {
            CompilerFlags.refusal(flag)
                    .ifPresent(refusal -> problems.add(
                            "refused: the compiler flag " + CompilerFlags.printable(flag) + ": " + refusal.why(),
                            "board " + board,
                            CompilerFlags.ALLOWED,
                            refusal.remedy()));
        }
        problems.throwIfAny();
        return new Building(toolchain, joined(compile, more), link, codegens, uf2Family);
    }

    private static List<String> joined(List<String> flags, List<String> more) {
        return Stream.concat(flags.stream(), more.stream()).toList();
    }

    /**
     * The toolchain that a board names.
     *
     * @param toolchain id of a built-in descriptor
     * @param required whether no other toolchain is allowed
     * @param where file and line of the setting
     */
    public record NamedToolchain(
            String toolchain,
            boolean required,
            @NoInput(because = "a place for messages") String where) {}

    /**
     * The compiler flags that any board may set: those known to read no file, run no program, write nothing, and keep
     * calling convention and results. All others are refused.
     */
    static final class CompilerFlags {
        /** The allowed flags, for messages. */
        static final String ALLOWED =
                "-D, -U, -O, -W, -g, -std, -I of a folder of the board, or one of the harmless -f and -m flags";

        private static final String FOLDER = "[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,62}";
        private static final String ON_OR_OFF =
                "-f(?:no-)?(?:function-sections|data-sections|common|strict-aliasing|strict-overflow"
                        + "|wrapv|unroll-loops|omit-frame-pointer|inline|inline-functions|inline-small-functions|stack-protector"
                        + "|tree-vectorize|vectorize|slp-vectorize|tree-slp-vectorize|jump-tables|delete-null-pointer-checks|merge-constants"
                        + "|strict-volatile-bitfields|conserve-stack|ident|zero-initialized-in-bss|reorder-blocks|reorder-functions|ipa-cp"
                        + "|ipa-sra|gcse|ivopts|caller-saves|optimize-sibling-calls|unwind-tables|asynchronous-unwind-tables)";

        private static final List<Pattern> FLAGS = List.of(
                Pattern.compile("-D[A-Za-z_][A-Za-z0-9_]*(?:=[A-Za-z0-9_.+-]*)?"),
                Pattern.compile("-U[A-Za-z_][A-Za-z0-9_]*"),
                Pattern.compile("-O[0123sgz]?"),
                Pattern.compile("-W[a-z][a-z0-9+]+(?:-[a-z0-9+]+)*(?:=[a-z0-9-]+)?"),
                Pattern.compile("-g(?:[0-3]|gdb[0-3]?|dwarf(?:-[2-5])?)?"),
                Pattern.compile("-std=(?:c|gnu|iso9899:)[0-9a-z]{2,6}"),
                Pattern.compile("-pedantic(?:-errors)?"),
                Pattern.compile(ON_OR_OFF),
                // The opposite flags would make Kiln's own memcpy call itself.
                Pattern.compile("-fno-(?:builtin|tree-loop-distribute-patterns)|-ffreestanding"),
                Pattern.compile("-fstack-protector-(?:strong|all)"),
                Pattern.compile("-I" + FOLDER + "(?:/" + FOLDER + "){0,6}"),
                Pattern.compile("-falign-(?:functions|loops|jumps|labels)(?:=[0-9]{1,4})?"),
                Pattern.compile(
                        "-m(?:no-)?(?:unaligned-access|strict-align|long-calls|slow-flash-data|fix-cortex-m3-ldrd|save-restore|relax)"),
                Pattern.compile("-mthumb"),
                Pattern.compile("-mtune=[a-z0-9.-]{1,40}"),
                Pattern.compile("-msmall-data-limit=[0-9]{1,6}"));

        private static final List<Rule> REFUSED = List.of(
                new Rule("-fplugin.*|-wrapper.*|-Xclang.*|-fpass-plugin.*|-load.*", "it runs a program", ""),
                new Rule(
                        "-B.*|--?specs.*|--sysroot.*|-isysroot.*|--?gcc-.*|--target.*|-target.*|--config.*",
                        "it chooses other programs or libraries",
                        "The toolchain's descriptor is the place for it: -Dkiln.toolchain=my-toolchain.yaml"),
                new Rule("@.*", "it reads flags from a file", "List them here"),
                new Rule(
                        "--?(?:include|imacros|I|iquote|isystem|idirafter|iprefix|iwithprefix|embed-dir|F).*",
                        "it reads files by their path",
                        "Put headers beside board.yaml: that folder is searched already; -I names folders in it"),
                new Rule(
                        "-W[lap],.*|-X.*|-z.*",
                        "it passes arguments to the linker, the assembler or the preprocessor",
                        "For symbols of the link there is flags.symbols, for macros flags.defines"),
                new Rule("-T.*", "it names a linker script", "The key linker does"),
                new Rule(
                        "-[lL].*|--library.*",
                        "it links what is not the board's",
                        "List the source in sources, or bring it in src/main/c"),
                new Rule("-x.*", "it changes the language of a source", "Sources end in .c or .S"),
                new Rule(
                        "-m(?:cpu|arch|abi|fpu|float-abi).*",
                        "it changes the compiler's target",
                        "The key target says so: -mcpu, -march and -mabi there"),
                new Rule(
                        "-f(?:fast-math|unsafe-math.*|finite-math.*|associative-math|reciprocal-math|fp-contract.*)|-Ofast",
                        "it changes the results of floating-point models",
                        ""),
                new Rule(
                        "-f(?:short-enums|short-wchar|pack-struct.*|signed-char|unsigned-char)",
                        "it changes the layout of data",
                        "Say it in the source"),
                new Rule(
                        "-D.*",
                        "the macro's value holds more than a name or a number",
                        "Put it in a header of the board"));

        private CompilerFlags() {}

        /**
         * Why a flag is refused.
         *
         * @param why the reason, one clause
         * @param remedy what to do; may be empty
         */
        record Refusal(String why, String remedy) {}

        private record Rule(Pattern pattern, Refusal refusal) {
            Rule(String regex, String why, String remedy) {
                this(Pattern.compile(regex, Pattern.DOTALL), new Refusal(why, remedy));
            }
        }

        /** Why a flag is refused; empty if it is allowed. */
        static Optional<Refusal> refusal(String flag) {
            if (FLAGS.stream().anyMatch(pattern -> pattern.matcher(flag).matches())) {
                return Optional.empty();
            }
            return Optional.of(REFUSED.stream()
                    .filter(rule -> rule.pattern().matcher(flag).matches())
                    .map(Rule::refusal)
                    .findFirst()
                    .orElse(new Refusal("it is not on the list of harmless flags", "Remove it")));
        }

        /** A flag in printable form, without control characters. */
        static String printable(String flag) {
            return flag.replaceAll("[^ -~]", "?");
        }
    }
}
