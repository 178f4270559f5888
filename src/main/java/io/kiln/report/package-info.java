// SPDX-License-Identifier: Apache-2.0
/** What people and other programs look at after a build: JSON files with schemas, JUnit XML and tables of text. */
package io.kiln.report;
