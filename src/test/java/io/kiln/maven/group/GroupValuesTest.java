// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.compile.ReadOptions;
import io.kiln.maven.group.GoalParameters.OperatorFunctions;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluator;
import org.codehaus.plexus.configuration.DefaultPlexusConfiguration;
import org.codehaus.plexus.configuration.PlexusConfiguration;
import org.junit.jupiter.api.Test;

/** Where a group's values come from, and what is refused. */
final class GroupValuesTest {
    private static final Element TEXT = Element.of("text", "usual", "A text.");
    private static final Element MODE = Element.of("mode", "none", "The mode.").ofGroup();
    private static final Element FILE = Element.of("file", "A file.");
    private static final Element COUNT = Element.of("count", "3", "A number.").alone("theCount");
    private static final Element SHARE = Element.of("share", "A share.");
    private static final ParameterGroup GROUP = new ParameterGroup("thing", TEXT, MODE, FILE, COUNT, SHARE);

    @Test
    void anElementOfTheGroupWinsOverOneBesideItAndThatOverTheProperty() {
        Map<String, String> properties = Map.of("kiln.thing.text", "property");
        PlexusConfiguration beside = xml("configuration", xml("thingText", "beside"));

        assertThat(values(Map.of(), Optional.empty(), Optional.empty()).text(TEXT))
                .isEqualTo("usual");
        assertThat(values(properties, Optional.empty(), Optional.empty()).text(TEXT))
                .isEqualTo("property");
        assertThat(values(properties, Optional.of(beside), Optional.empty()).text(TEXT))
                .isEqualTo("beside");
        assertThat(values(properties, Optional.of(beside), Optional.of(xml("thing", xml("text", "inside"))))
                        .text(TEXT))
                .isEqualTo("inside");
    }

    @Test
    void aGoalThatDoesNotDeclareTheGroupFindsItInTheProject() {
        PlexusConfiguration project = xml("configuration", xml("thing", xml("text", "inside")), xml("theCount", "5"));
        GroupValues values = values(Map.of(), Optional.of(project), Optional.empty());
        assertThat(values.text(TEXT)).isEqualTo("inside");
        assertThat(values.small(COUNT)).isEqualTo(5);
    }

    @Test
    void theTextOfTheGroupIsThatOfOneElement() {
        assertThat(values(Map.of("kiln.thing", "fast"), Optional.empty(), Optional.empty())
                        .text(MODE))
                .isEqualTo("fast");
        assertThat(values(Map.of(), Optional.empty(), Optional.of(xml("thing", " slow ")))
                        .text(MODE))
                .isEqualTo("slow");
        ParameterGroup plain = new ParameterGroup("plain", TEXT);
        assertThatThrownBy(() -> parameters(Map.of(), Optional.empty()).of(plain, Optional.of(xml("plain", "slow"))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("<plain> is `slow`; expected elements: text");
    }

    @Test
    void listsAreSeparatedByCommasAndExpressionsHaveTheirValues() {
        PlexusConfiguration list = xml("thing", xml("text", xml("name", "a"), xml("name", "c")));
        assertThat(values(Map.of(), Optional.empty(), Optional.of(list)).text(TEXT))
                .isEqualTo("a,c");
        PlexusConfiguration expression = xml("thing", xml("text", "${b}"));
        assertThat(values(Map.of("b", "d"), Optional.empty(), Optional.of(expression))
                        .text(TEXT))
                .isEqualTo("d");
    }

    @Test
    void anArchiveIsWholeUnlessItIsToBeSlim() {
        assertThat(isSlim(Map.of())).isFalse();
        assertThat(isSlim(Map.of("kiln.mlf.slim", "true"))).isTrue();
    }

    private static boolean isSlim(Map<String, String> properties) {
        return CompilationGroups.isSlim(
                parameters(properties, Optional.empty()).of(CompilationGroups.MLF, Optional.empty()));
    }

    @Test
    void filesLieInTheProject() {
        assertThat(values(Map.of("kiln.thing.file", "x/y"), Optional.empty(), Optional.empty())
                        .file(FILE))
                .contains(Path.of("/project/x/y"));
        assertThat(values(Map.of("kiln.thing.file", ""), Optional.empty(), Optional.empty())
                        .file(FILE))
                .isEmpty();
    }

    @Test
    void whatIsNoNumberNamesItsProperty() {
        assertThat(values(Map.of("kiln.thing.count", " 12 "), Optional.empty(), Optional.empty())
                        .whole(COUNT))
                .isEqualTo(12);
        assertThat(values(Map.of("kiln.thing.count", ""), Optional.empty(), Optional.empty())
                        .whole(COUNT))
                .isEqualTo(3);
        assertThat(values(Map.of("kiln.thing.share", "0.5"), Optional.empty(), Optional.empty())
                        .real(SHARE))
                .contains(0.5);
        assertThatThrownBy(() -> values(Map.of("kiln.thing.count", "many"), Optional.empty(), Optional.empty())
                        .small(COUNT))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.thing.count is 'many'; expected a whole number");
    }

    @Test
    void anElementThatTheGroupLacksIsRefusedWithANearName() {
        assertThatThrownBy(() -> values(Map.of(), Optional.empty(), Optional.of(xml("thing", xml("cuont", "1")))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("<thing> has no element <cuont>")
                .hasMessageContaining("Did you mean count");
    }

    /** As Maven itself takes an empty element of a single parameter. */
    @Test
    void anEmptyElementIsNotSet() {
        Map<String, String> properties = Map.of("kiln.thing.text", "property", "empty", "");
        PlexusConfiguration beside = xml("configuration", xml("thingText", "beside"));
        for (PlexusConfiguration empty : List.of(xml("text", " "), xml("text"), xml("text", "${empty}"))) {
            PlexusConfiguration group = xml("thing", empty);
            assertThat(values(properties, Optional.empty(), Optional.of(group)).text(TEXT))
                    .isEqualTo("property");
            assertThat(values(Map.of("empty", ""), Optional.empty(), Optional.of(group))
                            .text(TEXT))
                    .isEqualTo("usual");
        }
        assertThat(values(properties, Optional.of(beside), Optional.of(xml("thing", xml("text"))))
                        .text(TEXT))
                .isEqualTo("beside");
        PlexusConfiguration alone = xml("configuration", xml("thingText"), xml("name"));
        assertThat(values(properties, Optional.of(alone), Optional.empty()).text(TEXT))
                .isEqualTo("property");
        assertThat(parameters(Map.of("kiln.name", "net"), Optional.of(alone)).undeclared("name"))
                .contains("net");
    }

    @Test
    void malformedNumbersAreToldTogether() {
        Problems malformed = new Problems(Failure.CONFIG);
        Map<String, String> wrong = Map.of(
                "kiln.verify.samples", "two",
                "kiln.verify.seed", "three",
                "kiln.verify.program", "four",
                "kiln.quantize.maxAccuracyLoss", "five",
                "kiln.quantize.minSqnr", "six",
                "kiln.quantize.method", "seven");
        GoalParameters parameters = parameters(wrong, Optional.empty());

        Verify.spec(parameters.of(Verify.GROUP, Optional.empty()), malformed);
        Quantize.spec(parameters.of(Quantize.GROUP, Optional.empty()), malformed, Optional.empty(), Optional.empty());

        assertThat(malformed.list().stream().map(Problem::what))
                .hasSize(6)
                .allSatisfy(what -> assertThat(wrong)
                        .anySatisfy(
                                (name, value) -> assertThat(what).contains(name).contains(value)));
    }

    @Test
    void customOperatorsHaveTheValuesOfExpressions() {
        PlexusConfiguration operators = xml(
                "customOperators",
                xml("operator", xml("code", "Mine"), xml("function", "${f}"), xml("reference", "${r}")));
        PlexusConfiguration line = xml("customOperators", "${line}");
        GoalParameters parameters =
                parameters(Map.of("f", "mine", "r", "mine.c", "line", "Other:other"), Optional.empty());

        assertThat(OperatorFunctions.in(ReadOptions.DEFAULT, parameters, Optional.of(operators))
                        .customOperators()
                        .text())
                .isEqualTo("Mine:mine::::mine.c");
        assertThat(OperatorFunctions.in(ReadOptions.DEFAULT, parameters, Optional.of(line))
                        .customOperators()
                        .text())
                .isEqualTo("Other:other::::");
    }

    /** {@code kiln:help} shows nothing else. */
    @Test
    void everyElementIsExplained() {
        assertThat(ParameterGroup.all())
                .hasSize(16)
                .allSatisfy(group -> assertThat(group.elements())
                        .isNotEmpty()
                        .allSatisfy(element -> assertThat(element.meaning()).endsWith(".")));
    }

    private static GroupValues values(
            Map<String, String> properties,
            Optional<PlexusConfiguration> project,
            Optional<PlexusConfiguration> given) {
        return parameters(properties, project).of(GROUP, given);
    }

    private static GoalParameters parameters(Map<String, String> properties, Optional<PlexusConfiguration> project) {
        return new GoalParameters(
                new ExpressionEvaluator() {
                    @Override
                    public Object evaluate(String text) {
                        boolean isExpression = text.startsWith("${");
                        return isExpression ? properties.get(text.substring(2, text.length() - 1)) : text;
                    }

                    @Override
                    public File alignToBaseDirectory(File file) {
                        return new File("/project", file.getPath());
                    }
                },
                project);
    }

    private static PlexusConfiguration xml(String name, String value) {
        return new DefaultPlexusConfiguration(name, value);
    }

    private static PlexusConfiguration xml(String name, PlexusConfiguration... children) {
        DefaultPlexusConfiguration element = new DefaultPlexusConfiguration(name);
        for (PlexusConfiguration child : children) {
            element.addChild(child);
        }
        return element;
    }
}
