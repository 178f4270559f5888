// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.maven.group.Element;
import io.kiln.maven.group.ParameterGroup;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptorBuilder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What {@code kiln:help} prints. */
final class HelpMojoTest {
    private static PluginDescriptor plugin;

    @BeforeAll
    static void read() throws Exception {
        try (Reader reader = Files.newBufferedReader(Path.of("target/classes/META-INF/maven/plugin.xml"))) {
            plugin = new PluginDescriptorBuilder().build(reader);
        }
    }

    @Test
    void everyGoalIsListed() {
        String help = HelpMojo.text(plugin, Optional.empty(), false, 80, 2);
        assertThat(plugin.getMojos())
                .hasSizeGreaterThan(30)
                .allSatisfy(goal -> assertThat(help).contains("\nkiln:" + goal.getGoal() + "\n  "));
        assertThat(help).doesNotContain("User property");
        assertThat(help.lines()).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
    }

    /** That is, their names, defaults, properties and texts. */
    @Test
    void everyParameterOfAGoalIsExplainedAndEveryElementOfItsGroups() {
        String help = HelpMojo.text(plugin, Optional.of("verify"), true, 10_000, 2);
        MojoDescriptor verify = plugin.getMojo("verify");
        assertThat(verify.getParameters())
                .hasSizeGreaterThan(40)
                .allSatisfy(parameter -> assertThat(help)
                        .containsPattern("\n    " + parameter.getName() + "( \\(Default: .*\\))?\n      [A-Z{]")
                        .contains(parameter.getDescription().replaceAll("\\s+", " ")));
        assertThat(help)
                .contains("\n    board (Default: mps2-an386)\n")
                .contains("\n      User property: kiln.board\n")
                .doesNotContain("kiln:build\n  ");
        ParameterGroup group = ParameterGroup.of("verify").orElseThrow();
        for (Element element : group.elements()) {
            assertThat(help)
                    .contains("\n    verify/" + element.name())
                    .contains("\n      " + element.meaning() + "\n      User property: " + group.property(element));
        }
    }

    @Test
    void anUnknownGoalIsNamedWithANearOne() {
        assertThatThrownBy(() -> HelpMojo.text(plugin, Optional.of("verfy"), true, 80, 2))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no goal `verfy`")
                .hasMessageContaining("Did you mean verify");
    }
}
