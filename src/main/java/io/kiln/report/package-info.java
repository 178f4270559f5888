// SPDX-License-Identifier: Apache-2.0
/** Results of a build for people and programs: JSON files with schemas, JUnit XML and text tables. */
package io.kiln.report;
