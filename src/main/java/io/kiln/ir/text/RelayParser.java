// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Problem;
import io.kiln.ir.text.RelaySyntax.Definition;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.ir.text.RelaySyntax.Module;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Parses Relay text 0.0.5, as printed by {@link RelayPrinter} and TVM: the version (optional), functions, and a
 * metadata section. After an error it continues with the next statement, so that all errors are found. Text of any size
 * and depth is parsed in linear time and without deep recursion.
 */
public final class RelayParser {
    private static final String VERSION = "0.0.5";

    private final String text;
    private final Words words;
    private final Consumer<Problem> problems;

    private final List<Definition> definitions = new ArrayList<>();
    private Metadata metadata = Metadata.NONE;

    private RelayParser(String text, String file, Consumer<Problem> problems) {
        this.text = text;
        this.words = new Words(file, text);
        this.problems = problems;
    }

    /**
     * Parses a text.
     *
     * @param text the whole text
     * @param file its name in messages
     * @param problems receives every error, in order; after any, the result is incomplete
     */
    public static Module parse(String text, String file, Consumer<Problem> problems) {
        RelayParser parser = new RelayParser(text, file, problems);
        try {
            parser.module();
        } catch (SyntaxException e) {
            problems.accept(e.problem());
        }
        return new Module(parser.definitions, parser.metadata);
    }

    private void module() {
        words.take();
        if (words.peek().is("#")) {
            version();
        }
        if (!words.peek().isName("def")) {
            throw words.unexpected("def @main");
        }
        while (words.peek().isName("def")) {
            words.take();
            new DefinitionParser(words, problems).read(definitions::add);
        }
        if (words.peek().is("#")) {
            metadata();
        } else if (words.peek().kind() != Token.Kind.END) {
            throw words.unexpected("def, #[metadata] or the end of the text");
        }
    }

    private void version() {
        words.expect("#");
        words.expect("[");
        Token key = words.expect(Token.Kind.NAME, "version");
        words.expect("=");
        Token version = words.expect(Token.Kind.STRING, "a version in quotes");
        if (!key.text().equals("version") || !version.text().equals(VERSION)) {
            throw words.failure(
                    version.place(),
                    "Relay text of " + key.text() + " " + version.shown() + " is not supported",
                    "version \"" + VERSION + "\"",
                    "Export the model with TVM 0.8 to 0.18");
        }
        words.expect("]");
    }

    private void metadata() {
        Token mark = words.take();
        words.expect("[");
        Token name = words.expect(Token.Kind.NAME, "metadata");
        if (!name.text().equals("metadata") || !words.peek().is("]")) {
            throw words.failure(mark.place(), "a section of this name is not supported", "#[metadata]", "");
        }
        metadata = new MetadataReader(words.file(), words.line(), problems).read(text.substring(words.position()));
    }
}
