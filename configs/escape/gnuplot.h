#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// A program of gnuplot runs what its lines say, `backquotes` in double quotes and system() included. Three places take a text of
// the input; each is one visible line (visible.h), because a line break ends a quoted text and begins a command. Programs
// state noenhanced for the whole terminal, so that no name is read as markup ({/Symbol a}, x^2, a_b). A blank parts ]]>, which
// gnuplot 5.4 would write into an SVG as it is, where XML does not allow it.

// A quoted text: 'plain', or ('it'."'".'s'). Single quotes substitute nothing; '' for a single quote inside them is no way out, for
// gnuplot 5.4 reads '''; system("...")' as an empty text with something behind it.
std::string gnuplot(std::string_view text);

// A text in a block of data ($name << END): "a\\b". Double quotes substitute nothing there; those of the name become single ones,
// which gnuplot 5.4 reads more reliably than \".
std::string gnuplot_cell(std::string_view text);

// The rest of a comment, which a backslash at its end would continue into the next line.
std::string gnuplot_comment(std::string_view text);

}  // namespace warpfold::escape
