// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text.replace('\\', '/')
assert log.contains('5 problems') : 'all at once'
assert log.contains('the command line: no parameter of Kiln ' + version + ' has the property kiln.optimise. Did you mean kiln.optimize')
assert log =~ /misspelled-name-is-refused\/pom.xml, line 12: no parameter .* has the property kiln.budgets.ram. Did you mean kiln.budget.ram/
assert log =~ /misspelled-name-is-refused\/pom.xml, line 46: .* kiln.vectors.verify. Did you mean kiln.verify.vectors/
assert log.contains('pom.xml, line 23, <configuration> of the plugin: no goal of Kiln ' + version + ' takes <bord>. Did you mean board')
assert log.contains('pom.xml, line 32, <configuration> of the execution boards: <optimize> is of other goals: ')
assert !log.contains('kiln.models.folder') && !log.contains('kiln.version') : 'names of the user are left alone'
return true
