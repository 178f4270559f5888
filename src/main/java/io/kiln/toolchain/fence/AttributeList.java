// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import io.kiln.toolchain.fence.CLexer.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the list in the double parentheses of {@code __attribute__}, and checks that each attribute is allowed. */
final class AttributeList {

    private static final Set<String> WITHOUT_STRINGS = Set.of(
            "aligned",
            "packed",
            "used",
            "unused",
            "weak",
            "naked",
            "noreturn",
            "noinline",
            "always_inline",
            "flatten",
            "hot",
            "cold",
            "const",
            "pure",
            "leaf",
            "nothrow",
            "nonnull",
            "returns_nonnull",
            "malloc",
            "alloc_size",
            "alloc_align",
            "assume_aligned",
            "warn_unused_result",
            "format",
            "format_arg",
            "sentinel",
            "may_alias",
            "mode",
            "vector_size",
            "ext_vector_type",
            "transparent_union",
            "fallthrough",
            "maybe_unused",
            "gnu_inline",
            "artificial",
            "retain",
            "noclone",
            "nocommon",
            "returns_twice",
            "access",
            "no_instrument_function",
            "nonstring",
            "no_icf",
            "nodebug",
            "overloadable",
            "clang_arm_builtin_alias",
            "clang_arm_mve_strict_polymorphism",
            "neon_vector_type",
            "neon_polyvector_type",
            "min_vector_width",
            "convergent",
            "nomerge",
            "minsize",
            "cmse_nonsecure_entry");
    private static final Pattern SYMBOL = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern OPTION = Pattern.compile("[A-Za-z0-9_.,+=-]*");

    /** Attributes that are allowed only for boards, where no loader and no C library calls functions by name. */
    private static final Set<String> ON_BOARDS =
            Set.of("weak", "alias", "naked", "interrupt", "visibility", "target", "pcs", "cmse_nonsecure_entry");

    private static final Map<String, Strings> ALLOWED = allowed();

    private final CLexer lexer;
    private final Dialect dialect;
    private final List<String> strings = new ArrayList<>();
    private final StringBuilder joined = new StringBuilder();
    private String name = "";
    private boolean isString;
    private int depth;

    AttributeList(CLexer lexer, Dialect dialect) {
        this.lexer = lexer;
        this.dialect = dialect;
    }

    /** Reads from the word to the last parenthesis. */
    void read() {
        for (int parenthesis = 0; parenthesis < 2; parenthesis++) {
            if (lexer.next() != Kind.MARK || !lexer.is('(')) {
                lexer.refuse("an attribute without double parentheses");
                return;
            }
        }
        while (depth >= 0) {
            Kind kind = lexer.next();
            if (kind == Kind.END) {
                lexer.refuse("an unterminated attribute");
                return;
            }
            token(kind);
            if (depth < 0 || (depth == 0 && lexer.is(','))) {
                finish();
            }
        }
        if (lexer.next() != Kind.MARK || !lexer.is(')')) {
            lexer.refuse("an attribute without its second parenthesis");
        }
    }

    private void token(Kind kind) {
        if (kind == Kind.STRING) {
            joined.append(lexer.content());
        } else if (kind == Kind.WORD) {
            String word = lexer.text();
            if (FencedC.ASM.contains(word)
                    || FencedC.ATTRIBUTE.contains(word)
                    || FencedC.FOREIGN_WORDS.contains(word)) {
                lexer.refuse("the word " + word + " in an attribute");
            }
            name = depth == 0 ? word : name;
        } else if (lexer.is('(')) {
            depth++;
        } else if (lexer.is(')')) {
            depth--;
        }
        if (isString && kind != Kind.STRING) {
            strings.add(joined.toString());
            joined.setLength(0);
        }
        isString = kind == Kind.STRING;
    }

    private void finish() {
        if (!name.isEmpty() || !strings.isEmpty()) {
            refusal(name, List.copyOf(strings), dialect).ifPresent(lexer::refuse);
        }
        name = "";
        strings.clear();
    }

    /** What strings may be among an attribute's arguments. */
    private enum Strings {
        NONE,
        SECTION,
        SYMBOL,
        TEXT,
        OPTION
    }

    /**
     * Why an attribute is not allowed. Declarations may have those for layout, placement, optimisation and warnings, but none that runs code before main,
     * chooses code at load time, or passes options to the compiler.
     */
    private static Optional<String> refusal(String name, List<String> strings, Dialect dialect) {
        String plain = plain(name);
        Strings kind = ALLOWED.get(plain);
        boolean isHere = dialect == Dialect.BOARD || !ON_BOARDS.contains(plain) || isVisibility(plain, strings);
        if (kind == null || !isHere) {
            return Optional.of("the attribute " + Refusals.shown(plain));
        }
        for (String string : strings) {
            Optional<String> refused = refusal(plain, kind, string, dialect);
            if (refused.isPresent()) {
                return refused;
            }
        }
        return Optional.empty();
    }

    private static boolean isVisibility(String name, List<String> strings) {
        return name.equals("visibility") && strings.equals(List.of("default"));
    }

    private static Optional<String> refusal(String name, Strings kind, String string, Dialect dialect) {
        boolean isFine = switch (kind) {
            case NONE -> false;
            case SECTION -> true;
            case SYMBOL -> SYMBOL.matcher(string).matches();
            case TEXT -> true;
            case OPTION -> OPTION.matcher(string).matches();
        };
        if (kind == Strings.SECTION) {
            return dialect.sectionRefusal(string);
        }
        return isFine
                ? Optional.empty()
                : Optional.of("the attribute " + name + " with \"" + Refusals.shown(string) + "\"");
    }

    private static String plain(String name) {
        boolean isWrapped = name.length() > 4 && name.startsWith("__") && name.endsWith("__");
        return isWrapped ? name.substring(2, name.length() - 2) : name.replaceFirst("^__", "");
    }

    private static Map<String, Strings> allowed() {
        Map<String, Strings> map = new HashMap<>();
        WITHOUT_STRINGS.forEach(name -> map.put(name, Strings.NONE));
        List.of("deprecated", "unavailable", "warning", "error").forEach(name -> map.put(name, Strings.TEXT));
        List.of("visibility", "target", "interrupt", "pcs").forEach(name -> map.put(name, Strings.OPTION));
        map.put("alias", Strings.SYMBOL);
        map.put("section", Strings.SECTION);
        return Map.copyOf(map);
    }
}
