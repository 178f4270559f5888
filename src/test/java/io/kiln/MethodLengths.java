// SPDX-License-Identifier: Apache-2.0
package io.kiln;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Lines of every method in Java files, from its signature to its closing brace; text blocks are data and not counted. */
final class MethodLengths {
    private static final Pattern TEXT_BLOCK = Pattern.compile("\"\"\"\\n.*?(?<!\\\\)\"\"\"", Pattern.DOTALL);

    private MethodLengths() {}

    static Map<String, Long> of(List<Path> files) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Map<String, Long> lengths = new TreeMap<>();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new Methods(unit, positions, lengths).scan(unit, null);
            }
        }
        return lengths;
    }

    private static final class Methods extends TreeScanner<Void, String> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final CharSequence text;
        private final Map<String, Long> lengths;

        Methods(CompilationUnitTree unit, SourcePositions positions, Map<String, Long> lengths) throws IOException {
            this.unit = unit;
            this.positions = positions;
            this.text = unit.getSourceFile().getCharContent(true);
            this.lengths = lengths;
        }

        @Override
        public Void visitClass(ClassTree type, String outer) {
            String name = type.getSimpleName().toString();
            return super.visitClass(type, outer == null ? name : outer + "." + name);
        }

        @Override
        public Void visitMethod(MethodTree method, String type) {
            BlockTree body = method.getBody();
            if (body != null) {
                Tree signature = method.getReturnType() == null ? body : method.getReturnType();
                int start = (int) positions.getStartPosition(unit, signature);
                int end = (int) positions.getEndPosition(unit, body);
                LineMap map = unit.getLineMap();
                long first = map.getLineNumber(start);
                long lines = map.getLineNumber(end) - first + 1 - textBlocks(start, end);
                lengths.put(type + "." + method.getName() + ":" + first, lines);
            }
            return super.visitMethod(method, type);
        }

        private long textBlocks(int start, int end) {
            Matcher block = TEXT_BLOCK.matcher(text.subSequence(start, end));
            return block.results()
                    .mapToLong(found -> found.group().lines().count() - 1)
                    .sum();
        }
    }
}
